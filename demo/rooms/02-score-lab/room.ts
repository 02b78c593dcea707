// Room 2, score lab: one query and its keys on a plane that a score function colours; the numbers of all of them, costs and times.

import type { Engine } from "../../src/engine/engine.js";
import { at, bestOf, type Matrix, rowsOf, withBlock } from "../../src/model/matrix.js";
import type { Entry } from "../../src/model/store.js";
import { agreement, agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { choice } from "../../src/ui/choice.js";
import { button } from "../../src/ui/dom.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { drawer, picture } from "../../src/ui/picture.js";
import { slider } from "../../src/ui/slider.js";
import { Teller } from "../../src/ui/teller.js";
import type { ScoreAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { CostPicture } from "./cost-picture.js";
import { explain } from "./explain.js";
import { FormulaField } from "./formula-field.js";
import { ABOUT, KEYS, KINDS, type Kind } from "./kinds.js";
import { Plane } from "./plane.js";
import type { ScoreScene } from "./scene.js";
import { BANDWIDTHS, INITIAL, type ScoreStore, TEMPERATURES, TYPED } from "./state.js";
import { MATRICES, type MatrixName, PARAMETERS, viewOf } from "./views.js";

/** Weights that differ by less are the same in single precision. */
const SAME = 1e-6;
const LIST = new Intl.ListFormat("en");

export class ScoreRoom {
  readonly #store: ScoreStore;
  #scene: ScoreScene;
  #answer: ScoreAnswer | undefined;
  readonly #matrices = new NamedMatrices(MATRICES);
  readonly #teller = new Teller({
    keeper: () => this.#store,
    first: () => ({ name: "S", row: this.#row, col: bestOf(this.#scene.shares, this.#row) }),
    explain: (cell) => {
      const spot = this.#matrices.find(cell);
      return spot === undefined ? undefined : explain(this.#scene, spot, this.#answer);
    },
    // The row of the kind stays in the light.
    light: (lights) => this.#matrices.light([...["A", "S"].map((name) => ({ name, row: this.#row })), ...lights]),
    retype: ({ name, row, col }, value) => this.#edit(name, row, col, [[value]]),
  });
  readonly #plane = new Plane((key, x, y) => {
    this.#teller.point({ name: "A", row: this.#row, col: Math.max(0, key) }, true);
    this.#edit(key < 0 ? "q" : "K", Math.max(0, key), 0, [[x, y]], "run");
  });
  readonly #agreement = agreementLine();
  readonly #kind;
  readonly #sliders;
  readonly #formula: FormulaField;
  readonly #costs: CostPicture;
  readonly #lab;

  constructor(store: ScoreStore, root: HTMLElement, scene: ScoreScene, engine: Engine) {
    this.#store = store;
    this.#scene = scene;
    this.#kind = choice<Kind>(
      "Score",
      KINDS.map((value) => ({ value, text: ABOUT[value].name })),
      (kind) => {
        this.#teller.forget();
        store.change({ kind }, "new");
      },
    );
    this.#sliders = {
      temperature: slider("Temperature T", TEMPERATURES, (temperature) => store.change({ temperature })),
      bandwidth: slider("Bandwidth b", BANDWIDTHS, (bandwidth) => store.change({ bandwidth })),
      keep: slider("Best k kept", { least: 1, most: KEYS, step: 1 }, (keep) => store.change({ keep })),
    };
    this.#formula = new FormulaField((formula) => store.change({ formula }, "run"));
    this.#matrices.listen(this.#teller, (...edit) => this.#edit(...edit));
    this.#costs = new CostPicture(engine, scene);
    this.#lab = this.#build();
    this.#plane.show(scene, undefined);
    furnish(root, {
      pictures: [this.#lab.element, this.#costs.element],
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  /** Of the score in view. */
  get #row(): number {
    return KINDS.indexOf(this.#scene.state.kind);
  }

  #build() {
    const { temperature, bandwidth, keep } = this.#sliders;
    const line = this.#matrices.line.bind(this.#matrices);
    return picture({
      name: "lab",
      title: "Where would a new key get attention?",
      body: [this.#plane.board.element],
      controls: [this.#kind.element, bandwidth.element, keep.element, this.#formula.element],
      more: [
        temperature.element,
        button("Reset", () => {
          this.#store.hold(undefined);
          this.#store.change({ ...INITIAL, kind: this.#store.state.kind }, "new");
        }),
      ],
      numbers: drawer(
        "Numbers",
        line("q", "K"),
        line("W", "qW", "Wq", "Wk", "b", "v", "H", "g", "gate"),
        line("S", "A"),
      ),
      data: () => this.#numbers(),
    });
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
    this.#formula.element.hidden = kind !== "own";
    this.#formula.show(scene);
    const shown = new Set<MatrixName>(["q", "K", "S", "A", ...(PARAMETERS[kind] ?? [])]);
    this.#plane.show(scene, answer);
    this.#matrices.show((name) => (shown.has(name) ? viewOf(name, scene, answer) : undefined));
    this.#lab.say(`${ABOUT[kind].about}${likenessText(scene, answer)}`);
    this.#costs.show(scene);
    this.#agreement.textContent = agreementOf(scene, answer);
    this.#teller.tell();
  }

  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[], entry?: Entry): void {
    const known = TYPED.find((one) => one === name);
    if (known === undefined) return;
    this.#store.change({ [known]: withBlock(this.#store.state[known], row, col, values) }, entry);
  }

  #numbers(): unknown {
    const view = (name: MatrixName) => [name, rowsOf(viewOf(name, this.#scene, this.#answer).matrix)] as const;
    const { kind, temperature, bandwidth, keep, formula } = this.#scene.state;
    return { kind, temperature, bandwidth, keep, formula, kinds: KINDS, ...Object.fromEntries(MATRICES.map(view)) };
  }
}

/** As given, the first key is the query itself and the second is three times as long. */
function likenessText({ state, shares }: ScoreScene, answer: ScoreAnswer | undefined): string {
  if (state.q !== INITIAL.q || state.K !== INITIAL.K) return "";
  const gives = givenBy(answer?.shares ?? shares, KINDS.indexOf(state.kind));
  return ` k1 equals q, and k2 is three times q: ${ABOUT[state.kind].name} gives ${gives}.`;
}

/** "k1 and k2 the most" */
function givenBy(shares: Matrix, row: number): string {
  const all = Array.from({ length: shares.cols }, (_, key) => at(shares, row, key));
  const most = Math.max(...all);
  if (Number.isNaN(most)) return "no key a weight that is a number";
  if (most === 0) return "every key 0";
  const best = all.flatMap((share, key) => (most - share < SAME ? [`k${key + 1}`] : []));
  return best.length === all.length ? "every key the same" : `${LIST.format(best)} the most`;
}

function agreementOf({ strange }: ScoreScene, answer: ScoreAnswer | undefined): string {
  if (answer === undefined) return OWN_ARITHMETIC;
  const but = strange === "" ? "" : ", except for your own, whose scores are not all finite";
  return `All weights come from the kernel. Kernel and worked arithmetic ${agreement(answer.apart)}${but}.`;
}
