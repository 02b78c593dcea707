// The stage beside the text: one sentence downwards, arcs from the word that asks, and columns of squares and bars. Elements stay from
// one stop to the next, so that what changes moves, in both directions.

import { h, svg } from "../../src/ui/dom.js";
import { exact, short } from "../../src/ui/numbers.js";
import type { Column, ThreadScene } from "./scene.js";
import { COUNT, KEY_WIDTH, PROPERTIES, VALUES } from "./toy.js";

const MOST_COLUMNS = 3;
/** Pixels of all the weight. */
const THICKEST = 22;
const ARCS_WIDTH = 60;

export class Stage {
  readonly element: HTMLElement;
  readonly #query = h("p", { class: "thread-query" });
  readonly #arcs = [0, 1].map(() =>
    Array.from({ length: COUNT }, () => svg("path", { "vector-effect": "non-scaling-stroke" })),
  );
  readonly #heads = Array.from({ length: 1 + MOST_COLUMNS }, () => h("th", { scope: "col" }));
  readonly #rows = Array.from({ length: COUNT }, () => h("tr", {}, h("th", { scope: "row" }), ...cells()));
  readonly #foot = h("tr", { class: "thread-output" }, h("th", { scope: "row" }, "output"), ...cells());
  /** What each square of a word stands for. */
  readonly #legend = h("p", { class: "thread-legend small-label" });
  readonly #said = h("p", { class: "thread-said", role: "status" });

  constructor() {
    const drawing = svg(
      "svg",
      {
        class: "thread-arcs",
        viewBox: `0 0 ${ARCS_WIDTH} ${COUNT}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true",
      },
      ...this.#arcs.flat(),
    );
    const table = h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...this.#heads)),
      h("tbody", {}, ...this.#rows),
      h("tfoot", {}, this.#foot),
    );
    this.element = h(
      "div",
      { class: "thread-picture" },
      this.#query,
      h("div", { class: "thread-board" }, drawing, table),
      this.#legend,
      this.#said,
    );
  }

  show(scene: ThreadScene): void {
    const { words, asker, query, columns, output, visible, said } = scene;
    const { title = "", numbers, full = 1 } = query ?? {};
    this.#query.replaceChildren(
      ...(title === "" ? [] : [`query: ${title} `]),
      ...(numbers === undefined ? [] : [squares(numbers, full, "query")]),
    );
    this.#said.replaceChildren(
      ...said.split(/\^([\d.−]+)/).map((part, place) => (place % 2 === 0 ? part : h("sup", {}, part))),
    );
    this.#arcs.forEach((paths, index) => {
      const arc = scene.arcs[index];
      paths.forEach((path, word) => {
        const weight = word === asker ? 0 : (arc?.weights[word] ?? 0);
        if (asker >= 0) path.setAttribute("d", arcBetween(asker, word));
        path.setAttribute("class", `tone-${arc?.tone ?? "one"}`);
        path.style.setProperty("stroke-width", `${(weight * THICKEST).toFixed(2)}px`);
      });
    });
    const [first, ...heads] = this.#heads;
    if (first) first.textContent = scene.keyed;
    heads.forEach((head, index) => {
      head.textContent = columns[index]?.title ?? "";
      head.hidden = index >= columns.length;
    });
    this.#rows.forEach((row, word) => {
      const [name, ...places] = Array.from(row.children);
      if (name) name.textContent = words[word] ?? "";
      row.classList.toggle("asking", word === asker);
      row.classList.toggle("unseen", word >= visible);
      places.forEach((place, index) => {
        showCell(place, columns[index], word);
        place.toggleAttribute("hidden", index >= columns.length);
      });
    });
    this.#foot.classList.toggle("none", output === undefined);
    this.#legend.textContent = legendOf(scene);
    const last = columns.length - 1;
    Array.from(this.#foot.children)
      .slice(1)
      .forEach((place, index) => {
        place.replaceChildren(
          ...(index === output?.column ? [squares(output.numbers, 1, "value"), ` ${output.whose ?? ""}`] : []),
        );
        place.toggleAttribute("hidden", index > last);
      });
  }
}

function legendOf({ columns, query, output }: ThreadScene): string {
  const keys = query?.numbers !== undefined || columns.some(({ tone }) => tone === "key");
  const values = output !== undefined || columns.some(({ tone, kind }) => tone === "value" && kind === "squares");
  const parts = [
    ...(keys ? [`The four boxes of a query or key stand for: ${PROPERTIES.slice(0, KEY_WIDTH).join(", ")}.`] : []),
    ...(values ? [`${keys ? "O" : "The two boxes o"}f a value: ${VALUES.join(", ")}.`] : []),
  ];
  return parts.join(" ");
}

function cells(): readonly HTMLElement[] {
  return Array.from({ length: MOST_COLUMNS }, () => h("td", {}));
}

function showCell(place: Element, column: Column | undefined, word: number): void {
  if (column?.kind !== "bars") {
    const cell = column?.cells[word];
    place.replaceChildren(
      ...(column?.kind === "text"
        ? [String(cell)]
        : Array.isArray(cell) && column
          ? [squares(cell, column.full ?? 1, column.tone)]
          : []),
    );
    return;
  }
  const value = column.cells[word] ?? 0;
  let bar = place.querySelector<HTMLElement>(".thread-bar");
  if (bar === null) {
    bar = h("span", { class: "thread-bar" }, h("i", {}), h("small", {}));
    place.replaceChildren(bar);
  }
  bar.className = `thread-bar tone-${column.tone}${column.isSigned ? " signed" : ""}${value < 0 ? " below" : ""}`;
  bar.style.setProperty("--length", Math.min(1, Math.abs(value) / column.most).toFixed(4));
  const figure = bar.querySelector("small");
  if (figure) figure.textContent = value === 0 ? "" : (column.say ?? short)(value);
}

function squares(numbers: readonly number[], full: number, tone: string): HTMLElement {
  const said = numbers.map((number) => short(number)).join(", ");
  const all = numbers.map((number) => {
    const square = h("i", {}, number === 0 ? "" : exact(number, 1).replace(/^0/, ""));
    square.style.setProperty("--depth", Math.min(1, number / full).toFixed(3));
    return square;
  });
  return h("span", { class: `thread-squares tone-${tone}`, title: said, role: "img", "aria-label": said }, ...all);
}

/** In rows: the drawing is stretched over all of them. */
function arcBetween(from: number, to: number): string {
  const [start, end] = [from + 0.5, to + 0.5];
  const out = ARCS_WIDTH * (1 - Math.min(1, 0.25 + Math.abs(from - to) / 8));
  return `M${ARCS_WIDTH} ${start}C${out} ${start} ${out} ${end} ${ARCS_WIDTH} ${end}`;
}
