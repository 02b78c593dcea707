// Room 2, score lab: one query and its keys through every score function, with parameters to change, costs and times.

import { HeedMatrix } from "heed/viz";
import type { Engine } from "../../src/engine/engine.js";
import { at, fill, rowsOf } from "../../src/model/matrix.js";
import { choice } from "../../src/ui/choice.js";
import { codeButtons } from "../../src/ui/code.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { handle } from "../../src/ui/matrix-handlers.js";
import { magnitude } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { Readout } from "../../src/ui/readout.js";
import { slider } from "../../src/ui/slider.js";
import type { ScoreAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { CostPicture } from "./cost-picture.js";
import { bestOf, explain, type Spot } from "./explain.js";
import { ABOUT, KEYS, KINDS, type Kind, NAMES } from "./kinds.js";
import type { ScoreScene } from "./scene.js";
import { BANDWIDTHS, INITIAL, type ScoreStore, TEMPERATURES, TYPED } from "./state.js";
import { MATRICES, type MatrixName, PARAMETERS, viewOf } from "./views.js";

export class ScoreRoom {
  readonly #store: ScoreStore;
  #scene: ScoreScene;
  #answer: ScoreAnswer | undefined;
  #hovered: Spot | undefined;
  #held: Spot | undefined;
  readonly #matrices = new Map(MATRICES.map((name) => [name, new HeedMatrix()] as const));
  readonly #readout = new Readout();
  readonly #agreement = h("p", { class: "agreement", role: "status" });
  readonly #kind;
  readonly #sliders;
  readonly #costs: CostPicture;
  readonly #pictures;

  constructor(store: ScoreStore, root: HTMLElement, scene: ScoreScene, engine: Engine) {
    this.#store = store;
    this.#scene = scene;
    this.#kind = choice<Kind>(
      "Score",
      KINDS.map((value) => ({ value, text: NAMES[value] })),
      (kind) => {
        this.#held = undefined;
        store.change({ kind });
      },
    );
    this.#sliders = {
      temperature: slider("Temperature T", TEMPERATURES, (temperature) => store.change({ temperature })),
      bandwidth: slider("Bandwidth b", BANDWIDTHS, (bandwidth) => store.change({ bandwidth })),
      keep: slider("Keep the best k", { least: 1, most: KEYS, step: 1 }, (keep) => store.change({ keep })),
    };
    const again = h("button", { type: "button", class: "button" }, "As given");
    again.addEventListener("click", () => store.change({ ...INITIAL, kind: store.state.kind }));
    for (const matrix of this.#matrices.values()) {
      handle(matrix, {
        inspect: (name, row, col, held) => this.#inspect(name, row, col, held),
        leave: () => {
          this.#hovered = undefined;
          this.#explain();
        },
        edit: (name, row, col, values) => this.#edit(name, row, col, values),
      });
    }
    this.#readout.change = (value) => {
      const spot = this.#hovered ?? this.#held;
      if (spot !== undefined) this.#edit(spot.name, spot.row, spot.col, [[value]]);
    };
    this.#costs = new CostPicture(engine);
    this.#pictures = this.#build();
    root.append(
      h(
        "div",
        { class: "controls" },
        this.#kind.element,
        h("div", { class: "controls-options" }, ...Object.values(this.#sliders).map(({ element }) => element), again),
      ),
      h(
        "div",
        { class: "with-readout" },
        h("div", {}, this.#pictures.lab.element, this.#pictures.parameters.element, this.#costs.element),
        this.#readout.element,
      ),
      h(
        "div",
        { class: "room-foot" },
        this.#agreement,
        codeButtons(
          () => heedCode(this.#scene),
          () => torchCode(this.#scene),
        ),
      ),
    );
  }

  #build() {
    const line = (...names: readonly MatrixName[]): HTMLElement =>
      h("div", { class: "matrices" }, ...names.flatMap((name) => this.#matrices.get(name) ?? []));
    return {
      lab: picture({
        name: "lab",
        title: "One query, ten ways to score its keys",
        body: [line("q", "K"), line("S", "A")],
        data: () => this.#numbers(["q", "K", "S", "A"]),
      }),
      parameters: picture({
        name: "parameters",
        title: "Its parameters",
        body: [line("W", "Wq", "Wk", "b", "v", "g")],
        data: () => this.#numbers(TYPED),
      }),
    };
  }

  show(scene: ScoreScene, answer: ScoreAnswer | undefined): void {
    this.#scene = scene;
    this.#answer = answer;
    const { kind, temperature, bandwidth, keep } = scene.state;
    this.#kind.show(kind);
    this.#sliders.temperature.show(temperature, String(temperature));
    this.#sliders.bandwidth.show(bandwidth, String(bandwidth));
    this.#sliders.bandwidth.element.hidden = kind !== "rbf";
    this.#sliders.keep.show(keep, String(keep));
    this.#sliders.keep.element.hidden = kind !== "top-k";
    const parameters = PARAMETERS[kind];
    const always: readonly MatrixName[] = ["q", "K", "S", "A"];
    for (const [name, matrix] of this.#matrices) {
      matrix.hidden = !always.includes(name) && !parameters.some((one) => one === name);
      if (!matrix.hidden) matrix.show(viewOf(name, scene, answer));
    }
    this.#pictures.parameters.element.hidden = parameters.length === 0;
    this.#pictures.lab.say(`${ABOUT[kind]}${likenessText(scene)}`);
    this.#pictures.parameters.say("Small numbers set by hand; a model would learn them. Change any.");
    this.#costs.show(kind);
    this.#agreement.textContent =
      answer === undefined
        ? "Shown: this page’s own arithmetic, in double precision."
        : `All shares come from the kernel. It and the arithmetic by hand agree to ${magnitude(answer.apart)}.`;
    this.#explain();
  }

  #inspect(name: string, row: number, col: number, held: boolean): void {
    const known = MATRICES.find((one) => one === name);
    if (known === undefined) return;
    this.#hovered = { name: known, row, col };
    if (held) this.#held = this.#hovered;
    const told = this.#explain();
    if (held && told !== undefined) this.#readout.say(told);
  }

  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[]): void {
    const known = TYPED.find((one) => one === name);
    if (known === undefined) return;
    const before = this.#store.state[known];
    const after = fill(before.rows, before.cols, (r, c) => values[r - row]?.[c - col] ?? at(before, r, c));
    this.#store.change({ [known]: after });
  }

  #explain(): Explanation | undefined {
    const row = KINDS.indexOf(this.#scene.state.kind);
    const own: Spot = { name: "S", row, col: bestOf(this.#scene.shares, row) };
    const spot = this.#hovered ?? this.#held ?? own;
    const visible = this.#matrices.get(spot.name)?.hidden === false;
    const told =
      (visible ? explain(this.#scene, spot, this.#answer) : undefined) ?? explain(this.#scene, own, this.#answer);
    this.#readout.show(told);
    for (const [name, matrix] of this.#matrices) {
      const lights = told?.lights.filter((light) => light.name === name) ?? [];
      // The row of the kind in the light, where nothing else is.
      matrix.light(name === "A" || name === "S" ? [{ row }, ...lights] : lights);
    }
    return told;
  }

  #numbers(names: readonly MatrixName[]): unknown {
    const matrices = names.map((name) => [name, rowsOf(viewOf(name, this.#scene, this.#answer).matrix)] as const);
    const { kind, temperature, bandwidth, keep } = this.#scene.state;
    return { kind, temperature, bandwidth, keep, kinds: KINDS, ...Object.fromEntries(matrices) };
  }
}

/** As given, the first key is the query itself and the second is three times as long. */
function likenessText({ state, shares }: ScoreScene): string {
  if (state.q !== INITIAL.q || state.K !== INITIAL.K) return "";
  const best = bestOf(shares, KINDS.indexOf(state.kind)) + 1;
  return ` As given, k1 is q itself and k2 points the same way, three times as long: ${NAMES[state.kind]} gives k${best} the most.`;
}
