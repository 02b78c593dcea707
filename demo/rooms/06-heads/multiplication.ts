// The multi-head matrix multiplication, step by step: columns drift apart when they are split, and together when joined.

import { HeedMatrix } from "heed/viz";
import type { Cell } from "../../src/model/cell.js";
import { rowsOf } from "../../src/model/matrix.js";
import { choice } from "../../src/ui/choice.js";
import { calm, h } from "../../src/ui/dom.js";
import type { NamedLight } from "../../src/ui/explanation.js";
import { handle, type MatrixHandlers, shows } from "../../src/ui/matrix-handlers.js";
import { turned, turnedLight, turningHandlers, worded } from "../../src/ui/orientation.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import type { HeadsScene } from "./scene.js";
import { HEADS, type HeadsStore, type Role, STEPS, type Step } from "./state.js";
import { STEP_LINES, STEP_TEXTS } from "./steps.js";
import { type Kind, nameOf, viewOf } from "./views.js";

const STEP_TIME = 3500;
const WHOLE: ReadonlySet<Kind> = new Set(["X", "Wo", "Y"]);

export class Multiplication {
  readonly #store: HeadsStore;
  readonly #handlers: MatrixHandlers;
  readonly #picture: Picture;
  readonly #lines = h("div", { class: "head-lines" });
  readonly #formula = h("div", { class: "step-formula" });
  readonly #buttons = STEPS.map((step, index) => {
    const button = h(
      "button",
      { type: "button", class: "step", "data-step": step },
      h("i", {}, String(index + 1)),
      STEP_TEXTS[step].name,
    );
    button.addEventListener("click", () => this.#go(step));
    return button;
  });
  readonly #play = h("button", { type: "button", class: "button" }, "Play");
  readonly #heads = choice(
    "Heads",
    HEADS.map((value) => ({ value, text: value })),
    (heads) => this.#store.change({ heads }),
  );
  readonly #roles = choice<Role>(
    "Show",
    [
      { value: "q", text: "queries" },
      { value: "k", text: "keys" },
      { value: "v", text: "values" },
    ],
    (role) => this.#store.change({ role }),
  );
  #matrices = new Map<string, HeedMatrix>();
  #built = "";
  #timer: ReturnType<typeof setInterval> | undefined;
  #scene: HeadsScene | undefined;

  constructor(store: HeadsStore, handlers: MatrixHandlers) {
    this.#store = store;
    this.#handlers = turningHandlers(handlers, () => this.#isTurned);
    this.#play.addEventListener("click", () => (this.#timer === undefined ? this.#start() : this.#stop()));
    const steps = h("ol", { class: "steps" }, ...this.#buttons.map((button) => h("li", {}, button)));
    this.#picture = picture({
      name: "multiplication",
      title: "The multiplication, in five steps",
      body: [
        h(
          "div",
          { class: "head-bar" },
          h("nav", { class: "stepper", "aria-label": "Steps" }, steps, this.#play),
          this.#heads.element,
          this.#roles.element,
        ),
        this.#formula,
        this.#lines,
      ],
      data: () => this.#numbers(),
    });
  }

  get #isTurned(): boolean {
    return this.#store.state.by === "columns";
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(scene: HeadsScene): void {
    this.#scene = scene;
    const { step, heads, role, by } = scene.state;
    this.#heads.show(heads);
    this.#roles.show(role);
    this.#roles.element.hidden = step !== "project";
    this.#buttons.forEach((button, index) => {
      if (STEPS[index] === step) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    const text = STEP_TEXTS[step].text(scene);
    this.#picture.say(by === "columns" ? worded(text) : text);
    if (this.#built !== `${step} ${heads} ${role} ${by}`) this.#build(scene);
    for (const [name, matrix] of this.#matrices) {
      const [kind, head] = partsOf(name);
      const view = viewOf(kind, head, scene);
      matrix.show(by === "columns" ? turned(view) : view);
    }
  }

  light(lights: readonly NamedLight[]): void {
    for (const [name, matrix] of this.#matrices) {
      const own = lights.filter((light) => light.name === name);
      matrix.light(this.#isTurned ? own.map(turnedLight) : own);
    }
  }

  shows(cell: Cell): boolean {
    return shows(this.#matrices.get(cell.name), cell, this.#isTurned);
  }

  #build({ state, chosen }: HeadsScene): void {
    const { step, heads, role, by } = state;
    const columns = by === "columns";
    this.#built = `${step} ${heads} ${role} ${by}`;
    this.#matrices = new Map();
    const make = (kind: Kind, head: number): HeedMatrix => {
      const matrix = new HeedMatrix();
      handle(matrix, this.#handlers);
      if (!WHOLE.has(kind)) matrix.dataset["head"] = String(head % 4);
      matrix.classList.toggle("rows-shared", head > 0 && kind !== "A" && !columns);
      matrix.classList.toggle("compact", kind === "A");
      this.#matrices.set(nameOf(kind, head), matrix);
      return matrix;
    };
    const lines = STEP_LINES[step].map((kinds) => {
      const matrices = kinds.flatMap((named) => {
        const kind = step === "project" && named === "q" ? role : named;
        return WHOLE.has(kind) ? [make(kind, 0)] : chosen.walk.heads.map((_, head) => make(kind, head));
      });
      return h("div", { class: "head-line" }, ...matrices);
    });
    this.#lines.dataset["step"] = step;
    this.#lines.classList.toggle("by-columns", columns);
    this.#lines.replaceChildren(...lines);
    this.#formula.replaceChildren(STEP_TEXTS[step].formula(columns));
    this.#drift(step);
  }

  /** Split starts together and drifts apart, join the other way round. */
  #drift(step: Step): void {
    const apart = step === "split" || step === "attend";
    const moves = !calm() && (step === "split" || step === "join");
    this.#lines.classList.toggle("apart", moves ? !apart : apart);
    if (moves) requestAnimationFrame(() => requestAnimationFrame(() => this.#lines.classList.toggle("apart", apart)));
  }

  #go(step: Step): void {
    this.#stop();
    this.#store.change({ step }, "new");
  }

  #start(): void {
    if (this.#store.state.step === STEPS.at(-1)) this.#store.change({ step: STEPS[0] }, "run");
    this.#play.textContent = "Stop";
    this.#timer = setInterval(() => {
      const next = STEPS[STEPS.indexOf(this.#store.state.step) + 1];
      if (next === undefined) this.#stop();
      else this.#store.change({ step: next }, "run");
    }, STEP_TIME);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#play.textContent = "Play";
  }

  /** Of all steps, whichever is shown. */
  #numbers(): unknown {
    const scene = this.#scene;
    if (scene === undefined) return {};
    const { walk } = scene.chosen;
    return {
      words: scene.words,
      X: rowsOf(walk.x),
      heads: walk.heads.map(({ q, k, v, weights, output }) => ({
        Q: rowsOf(q),
        K: rowsOf(k),
        V: rowsOf(v),
        A: rowsOf(weights),
        O: rowsOf(output),
      })),
      WO: rowsOf(scene.state.mix),
      Y: rowsOf(scene.mixed),
    };
  }
}

const KINDS: readonly Kind[] = ["shares", "taken", "X", "W", "q", "k", "v", "A", "O", "Wo", "Y"];

export function partsOf(name: string): readonly [Kind, number] {
  const [kind, head] = name.split("-");
  return [KINDS.find((known) => known === kind) ?? "X", Number(head ?? 0)];
}
