// Room 1, soft dictionary: drawers that open by how well they fit, from exact lookup to plain average.

import { at, rowsOf, withBlock } from "../../src/model/matrix.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { h } from "../../src/ui/dom.js";
import { HeedCabinet } from "../../src/ui/heed-cabinet.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { formula, fraction, plain, row, sub, sup } from "../../src/ui/math.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { percent } from "../../src/ui/numbers.js";
import { worded } from "../../src/ui/orientation.js";
import { picture } from "../../src/ui/picture.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";
import { Teller } from "../../src/ui/teller.js";
import type { DictionaryAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { explain, MATRICES, ROLES } from "./explain.js";
import { bestOf, type DictionaryScene, GRID } from "./scene.js";
import { type DictionaryStore, matrixOf } from "./state.js";
import { answerParts, cabinetText, curveText, NUMBERS_TEXT, tasteText } from "./texts.js";
import { curveView, drawersOf, viewOf } from "./views.js";

export class DictionaryRoom {
  readonly #store: DictionaryStore;
  #scene: DictionaryScene;
  #answer: DictionaryAnswer | undefined;
  readonly #controls: ReturnType<typeof controls>;
  readonly #cabinet = new HeedCabinet();
  readonly #said = h("p", { class: "answer" });
  readonly #chart = new HeedChart();
  readonly #tastes = h("tbody");
  readonly #matrices = new NamedMatrices(MATRICES, () => this.#isTurned);
  readonly #teller = new Teller({
    keeper: () => this.#store,
    first: () => {
      const { state, shares } = this.#scene;
      return { name: "A", row: state.asker, col: bestOf(shares, state.asker) };
    },
    explain: (cell) => this.#matrices.told(cell, (spot) => explain(this.#scene, spot, this.#answer)),
    light: (lights) => this.#matrices.light(lights),
    retype: ({ name, row: atRow, col }, value) => this.#edit(name, atRow, col, [[value]]),
  });
  readonly #agreement = agreementLine();
  readonly #pictures;

  constructor(store: DictionaryStore, root: HTMLElement, scene: DictionaryScene) {
    this.#store = store;
    this.#scene = scene;
    this.#controls = controls(store);
    this.#matrices.listen(this.#teller, (...edit) => this.#edit(...edit));
    this.#cabinet.choose = (key) => this.#ask(rowsOf(this.#scene.k)[key] ?? []);
    this.#chart.choose = (index) => this.#ask([Number((GRID[index] ?? 0).toFixed(2))]);
    this.#pictures = this.#build();
    furnish(root, {
      above: [this.#controls.example],
      menu: this.#controls.menu,
      pictures: Object.values(this.#pictures).map(({ element }) => element),
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  #build() {
    const line = this.#matrices.line.bind(this.#matrices);
    const head = heads("", "by dot product", "by cosine");
    return {
      cabinet: picture({
        name: "cabinet",
        title: "Every drawer opens a little",
        body: [this.#cabinet, this.#said],
        ...this.#controls,
        data: () => this.#numbers(),
        aside: formula(
          "o",
          "=",
          row("∑", sub("a", "j"), sub("v", "j")),
          plain(",  "),
          sub("a", "j"),
          "=",
          fraction(sup("e", row(sub("s", "j"), "/", "T")), row("∑", sup("e", row(sub("s", "l"), "/", "T")))),
        ),
      }),
      curve: picture({
        name: "curve",
        title: "A salary for every grade",
        body: [this.#chart],
        data: () => ({
          state: this.#scene.state,
          grades: GRID,
          estimates: Array.from((this.#answer?.curve ?? this.#scene.curve?.output)?.data ?? []),
        }),
      }),
      tastes: picture({
        name: "tastes",
        title: "Dot product against cosine",
        body: [tableFrame("Best movie of each", h("table", { class: "plain-table tastes" }, head, this.#tastes))],
        data: () => ({
          state: this.#scene.state,
          dot: rowsOf(this.#scene.rivals.dot.shares),
          cosine: rowsOf(this.#scene.rivals.cosine.shares),
        }),
      }),
      numbers: picture({
        name: "numbers",
        title: "The same as numbers",
        body: [line("Q", "K"), line("S", "A"), line("V", "O")],
        data: () => this.#numbers(),
      }),
    };
  }

  show(scene: DictionaryScene, answer: DictionaryAnswer | undefined): void {
    this.#scene = scene;
    this.#answer = answer;
    const { state } = scene;
    this.#controls.show();
    this.#cabinet.show(drawersOf(scene, answer));
    this.#said.replaceChildren(
      ...answerParts(scene, answer).map((part) => (typeof part === "string" ? part : h("b", {}, part.b))),
    );
    const curve = curveView(scene, answer);
    if (curve !== undefined) this.#chart.show(curve);
    this.#pictures.curve.element.hidden = curve === undefined;
    this.#pictures.tastes.element.hidden = state.example !== "movies";
    this.#tastes.replaceChildren(...tasteRows(scene));
    this.#matrices.show((name) => viewOf(name, scene, answer));
    this.#pictures.cabinet.say(cabinetText(scene));
    this.#pictures.curve.say(curveText(scene));
    this.#pictures.tastes.say(tasteText(scene));
    this.#pictures.numbers.say(this.#isTurned ? worded(NUMBERS_TEXT) : NUMBERS_TEXT);
    this.#agreement.textContent = agreed("Attention weights and answers", answer?.apart);
    this.#teller.tell();
  }

  get #isTurned(): boolean {
    return this.#store.state.by === "columns";
  }

  #ask(card: readonly number[]): void {
    const { state } = this.#scene;
    this.#store.change({ q: withBlock(matrixOf(state, "q"), state.asker, 0, [card]) });
  }

  #edit(name: string, atRow: number, col: number, values: readonly (readonly number[])[]): void {
    const known = EDITABLE.find((one) => one === name);
    if (known === undefined) return;
    const role = ROLES[known];
    this.#store.change({ [role]: withBlock(matrixOf(this.#store.state, role), atRow, col, values) });
  }

  #numbers(): unknown {
    const { state, example } = this.#scene;
    const matrices = MATRICES.map((name) => [name, rowsOf(viewOf(name, this.#scene, this.#answer).matrix)] as const);
    return { state, askers: example.queries, drawers: example.keys, ...Object.fromEntries(matrices) };
  }
}

const EDITABLE = ["Q", "K", "V"] as const;

function tasteRows({ rivals, example }: DictionaryScene): HTMLElement[] {
  return example.queries.map((who, atRow) => {
    const bests = [rivals.dot, rivals.cosine].map(({ scores, shares }) => {
      const key = bestOf(scores, atRow);
      return { key, text: `${example.keys[key]} ${percent(at(shares, atRow, key))}` };
    });
    const differs = bests[0]?.key !== bests[1]?.key;
    return line(
      who,
      bests.map(({ text }) => text),
      differs ? "differs" : undefined,
    );
  });
}
