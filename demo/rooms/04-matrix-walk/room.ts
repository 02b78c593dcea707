// Room 4, the matrix walk: X to Q, K, V, to scores, to shares, to the output, every cell telling its arithmetic.

import type { KernelAnswer } from "../../src/engine/walk-call.js";
import { rowsOf } from "../../src/model/matrix.js";
import { NOTHING_EDITED, type Role, STEPS, type State } from "../../src/model/state.js";
import type { WalkStore } from "../../src/model/url.js";
import type { Walk } from "../../src/model/walk.js";
import { tellingOrder } from "../../src/page/stage.js";
import { choice } from "../../src/ui/choice.js";
import { codeButtons } from "../../src/ui/code.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import type { MatrixHandlers } from "../../src/ui/matrix-handlers.js";
import { magnitude } from "../../src/ui/numbers.js";
import { saveTools } from "../../src/ui/picture.js";
import { Readout } from "../../src/ui/readout.js";
import { heedCode, torchCode } from "./code.js";
import { afterEdit } from "./edits.js";
import { explain } from "./explain.js";
import { Options } from "./options.js";
import { turnedExplanation } from "./orientation.js";
import { Panel } from "./panels.js";
import { MATRICES, type Scene, type Spot, tellingSpot } from "./spots.js";
import { Stepper } from "./stepper.js";
import { viewOf } from "./views.js";

export class MatrixWalk {
  readonly #store: WalkStore;
  #walk: Walk;
  #answer: KernelAnswer | undefined;
  #hovered: Spot | undefined;
  #held: Spot | undefined;
  #options: Options;
  #stepper: Stepper;
  #readout = new Readout();
  #panels: readonly Panel[];
  #agreement = h("p", { class: "agreement", role: "status" });
  #heads = choice(
    "Head",
    ["1", "2", "3", "4"].map((value) => ({ value, text: value })),
    (value) => this.#store.change({ head: Number(value) - 1 }),
  );
  #roles = choice<Role>(
    "Show",
    [
      { value: "q", text: "queries" },
      { value: "k", text: "keys" },
      { value: "v", text: "values" },
    ],
    (role) => this.#store.change({ role }),
  );
  #restore = h("button", { type: "button", class: "link restore" }, "Undo all edits");

  constructor(store: WalkStore, root: HTMLElement, walk: Walk) {
    this.#store = store;
    this.#walk = walk;
    this.#options = new Options(store);
    this.#stepper = new Stepper(store);
    const handlers: MatrixHandlers = {
      inspect: (name, row, col, held) => this.#inspect({ name: nameOf(name), row, col }, held),
      leave: () => this.#inspect(undefined, false),
      edit: (name, row, col, values) => this.#edit({ name, row, col, values }),
    };
    this.#panels = STEPS.map((step) => new Panel(step, handlers, step === "project" ? this.#roles.element : undefined));
    this.#readout.change = (value) => {
      const spot = this.#spot();
      if (spot !== undefined) this.#edit({ ...spot, values: [[value]] });
    };
    this.#restore.addEventListener("click", () =>
      store.change({ edited: NOTHING_EDITED, ...(store.state.text === "" ? {} : { numbers: null }) }),
    );
    const panels = h("div", { class: "panels" }, ...this.#panels.map(({ element }) => element));
    root.append(
      this.#options.element,
      h(
        "div",
        { class: "walk-bar" },
        this.#stepper.element,
        h("div", { class: "walk-bar-end" }, this.#heads.element, this.#restore),
      ),
      h(
        "div",
        { class: "with-readout" },
        h(
          "div",
          { "data-picture": "walk" },
          panels,
          saveTools("walk", "the walk", panels, () => this.#data()),
        ),
        this.#readout.element,
      ),
      h(
        "div",
        { class: "room-foot" },
        this.#agreement,
        codeButtons(
          () => heedCode(this.#walk, store.state),
          () => torchCode(this.#walk, store.state),
        ),
      ),
    );
  }

  /** `answer`: the kernel's, or undefined as long as there is none for this walk. */
  show(walk: Walk, answer: KernelAnswer | undefined): void {
    this.#walk = walk;
    this.#answer = answer;
    const { state } = this.#store;
    this.#options.show(state, walk);
    this.#stepper.show(state);
    this.#heads.element.hidden = state.heads === 1;
    this.#heads.element.dataset["heads"] = String(state.heads);
    this.#heads.show(String(state.head + 1));
    this.#roles.show(state.role);
    this.#restore.hidden = !isEdited(state);
    const scene = this.#scene();
    for (const panel of this.#panels) {
      const visible = state.all || panel.step === state.step;
      if (visible && panel.element.hidden) panel.appear();
      panel.element.hidden = !visible;
      if (visible && scene !== undefined) panel.show(scene);
    }
    this.#agreement.textContent = agreementOf(answer);
    this.#explain();
  }

  /** The step has changed: what was pointed at belongs to another one. */
  forget(): void {
    this.#hovered = undefined;
    this.#held = undefined;
    this.#panels.find(({ step }) => step === this.#store.state.step)?.appear();
  }

  #scene(): Scene | undefined {
    const { state } = this.#store;
    const head = this.#walk.heads[state.head];
    return head === undefined ? undefined : { walk: this.#walk, state, head, kernel: this.#answer?.heads[state.head] };
  }

  #inspect(spot: Spot | undefined, held: boolean): void {
    this.#hovered = spot;
    if (held) this.#held = spot;
    const explanation = this.#explain();
    if (held && explanation !== undefined) this.#readout.say(explanation);
  }

  #spot(): Spot | undefined {
    const scene = this.#scene();
    if (scene === undefined || this.#walk.labels.length === 0) return undefined;
    const asker = this.#store.state.asker >= 0 ? this.#store.state.asker : (tellingOrder(this.#walk)[0] ?? 0);
    return this.#hovered ?? this.#held ?? tellingSpot(scene, asker);
  }

  #explain(): Explanation | undefined {
    const scene = this.#scene();
    const spot = this.#spot();
    const told = scene !== undefined && spot !== undefined ? explain(scene, spot) : undefined;
    const explanation = told !== undefined && this.#store.state.columns ? turnedExplanation(told) : told;
    this.#readout.show(explanation);
    for (const panel of this.#panels) panel.light(explanation?.lights ?? []);
    return explanation;
  }

  /** Of all steps, whichever are shown. */
  #data(): unknown {
    const scene = this.#scene();
    if (scene === undefined) return {};
    const matrices = MATRICES.map((name) => [name, rowsOf(viewOf(name, scene).matrix)] as const);
    const { labels, askers, featureNames, scale } = this.#walk;
    return { labels, askers, featureNames, scale, head: this.#store.state.head, ...Object.fromEntries(matrices) };
  }

  #edit(edit: Parameters<typeof afterEdit>[2]): void {
    const patch = afterEdit(this.#store.state, this.#walk, edit);
    if (patch === undefined) return;
    this.#held = { name: nameOf(edit.name), row: edit.row, col: edit.col };
    this.#store.change(patch);
  }
}

function isEdited({ edited, numbers, text }: State): boolean {
  return edited.q !== null || edited.k !== null || edited.v !== null || (numbers !== null && text !== "");
}

function nameOf(name: string): Spot["name"] {
  return MATRICES.find((known) => known === name) ?? "X";
}

function agreementOf(answer: KernelAnswer | undefined): string {
  if (answer === undefined) return "Shown: this page's own arithmetic, in double precision.";
  if (answer.difference === 0) return "Shares and outputs come from the kernel; the arithmetic by hand agrees exactly.";
  return `Shares and outputs come from the kernel. It and the arithmetic by hand agree to ${magnitude(answer.difference)}.`;
}
