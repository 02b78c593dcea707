// Room 1, soft dictionary: drawers that open by how well they fit, from exact lookup to plain average.

import { HeedMatrix } from "heed/viz";
import { at, fill, rowsOf } from "../../src/model/matrix.js";
import { codeButtons } from "../../src/ui/code.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { HeedCabinet } from "../../src/ui/heed-cabinet.js";
import { HeedChart } from "../../src/ui/heed-chart.js";
import { formula, fraction, plain, row, sub, sup } from "../../src/ui/math.js";
import { handle, type MatrixHandlers } from "../../src/ui/matrix-handlers.js";
import { magnitude, percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { Readout } from "../../src/ui/readout.js";
import type { DictionaryAnswer } from "./calls.js";
import { heedCode, torchCode } from "./code.js";
import { controls } from "./controls.js";
import { explain, MATRICES, type MatrixName, ROLES, type Spot } from "./explain.js";
import { bestOf, type DictionaryScene, GRID } from "./scene.js";
import { type DictionaryStore, matrixOf } from "./state.js";
import { answerParts, cabinetText, curveText, NUMBERS_TEXT, tasteText } from "./texts.js";
import { curveView, drawersOf, viewOf, withRow } from "./views.js";

export class DictionaryRoom {
  readonly #store: DictionaryStore;
  #scene: DictionaryScene;
  #answer: DictionaryAnswer | undefined;
  #hovered: Spot | undefined;
  #held: Spot | undefined;
  readonly #controls: ReturnType<typeof controls>;
  readonly #cabinet = new HeedCabinet();
  readonly #said = h("p", { class: "answer" });
  readonly #chart = new HeedChart();
  readonly #tastes = h("tbody");
  readonly #readout = new Readout();
  readonly #matrices = new Map(MATRICES.map((name) => [name, new HeedMatrix()] as const));
  readonly #agreement = h("p", { class: "agreement", role: "status" });
  readonly #pictures;

  constructor(store: DictionaryStore, root: HTMLElement, scene: DictionaryScene) {
    this.#store = store;
    this.#scene = scene;
    this.#controls = controls(store);
    const handlers: MatrixHandlers = {
      inspect: (name, atRow, col, held) => this.#inspect(name, atRow, col, held),
      leave: () => {
        this.#hovered = undefined;
        this.#explain();
      },
      edit: (name, atRow, col, values) => this.#edit(name, atRow, col, values),
    };
    for (const matrix of this.#matrices.values()) handle(matrix, handlers);
    this.#readout.change = (value) => {
      const spot = this.#hovered ?? this.#held;
      if (spot !== undefined) this.#edit(spot.name, spot.row, spot.col, [[value]]);
    };
    this.#cabinet.choose = (key) => this.#ask(rowsOf(this.#scene.k)[key] ?? []);
    this.#chart.choose = (index) => this.#ask([Number((GRID[index] ?? 0).toFixed(2))]);
    this.#pictures = this.#build();
    root.append(
      this.#controls.element,
      h(
        "div",
        { class: "with-readout" },
        h("div", {}, ...Object.values(this.#pictures).map(({ element }) => element)),
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
    const head = ["", "by dot product", "by cosine"].map((name) =>
      name === "" ? h("td") : h("th", { scope: "col" }, name),
    );
    return {
      cabinet: picture({
        name: "cabinet",
        title: "Every drawer opens a little",
        body: [this.#cabinet, this.#said],
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
        body: [
          h(
            "div",
            { class: "table-frame", tabindex: 0, role: "region", "aria-label": "Best movie of each" },
            h("table", { class: "plain-table tastes" }, h("thead", {}, h("tr", {}, ...head)), this.#tastes),
          ),
        ],
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
    for (const [name, matrix] of this.#matrices) matrix.show(viewOf(name, scene, answer));
    this.#pictures.cabinet.say(cabinetText(scene));
    this.#pictures.curve.say(curveText(scene));
    this.#pictures.tastes.say(tasteText(scene));
    this.#pictures.numbers.say(NUMBERS_TEXT);
    this.#agreement.textContent =
      answer === undefined
        ? "Shown: this page’s own arithmetic, in double precision."
        : `Shares and answers come from the kernel. It and the arithmetic by hand agree to ${magnitude(answer.apart)}.`;
    this.#explain();
  }

  #ask(card: readonly number[]): void {
    const { state } = this.#scene;
    this.#store.change({ q: withRow(matrixOf(state, "q"), state.asker, card) });
  }

  #edit(name: string, atRow: number, col: number, values: readonly (readonly number[])[]): void {
    const known = EDITABLE.find((one) => one === name);
    if (known === undefined) return;
    const role = ROLES[known];
    const before = matrixOf(this.#store.state, role);
    this.#store.change({
      [role]: fill(before.rows, before.cols, (r, c) => values[r - atRow]?.[c - col] ?? at(before, r, c)),
    });
  }

  #inspect(name: string, atRow: number, col: number, held: boolean): void {
    const known = MATRICES.find((one) => one === name);
    if (known === undefined) return;
    this.#hovered = { name: known, row: atRow, col };
    if (held) this.#held = this.#hovered;
    const told = this.#explain();
    if (held && told !== undefined) this.#readout.say(told);
  }

  #explain(): Explanation | undefined {
    const { state, shares } = this.#scene;
    const best: Spot = { name: "A", row: state.asker, col: bestOf(shares, state.asker) };
    const told =
      explain(this.#scene, this.#hovered ?? this.#held ?? best, this.#answer) ??
      explain(this.#scene, best, this.#answer);
    this.#readout.show(told);
    for (const [name, matrix] of this.#matrices)
      matrix.light(told?.lights.filter((light) => light.name === name) ?? []);
    return told;
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
    return h(
      "tr",
      { class: differs ? "differs" : undefined },
      h("th", { scope: "row" }, who),
      ...bests.map(({ text }) => h("td", {}, text)),
    );
  });
}
