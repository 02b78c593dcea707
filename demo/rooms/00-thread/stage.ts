// The stage beside the text: one sentence downwards, arcs from the word that asks, and columns of squares and bars. Elements stay from
// one stop to the next, so that what changes moves, in both directions.

import { COUNT, KEY_WIDTH, PROPERTIES, VALUES } from "../../src/model/toy.js";
import { Board } from "../../src/ui/board.js";
import { find, h, svg } from "../../src/ui/dom.js";
import { exact, short } from "../../src/ui/numbers.js";
import type { Column, ThreadScene } from "./scene.js";
import { listenToSketch, type Sketch } from "./sketch.js";

const MOST_COLUMNS = 3;
/** Pixels of all the weight. */
const THICKEST = 22;
const ARCS_WIDTH = 60;

/** `sketched`: somebody draws over its picture. */
export function stageOf(sketched: (next: Sketch) => void = () => {}) {
  const query = h("p", { class: "thread-query" });
  const arcs = [0, 1].map(() =>
    Array.from({ length: COUNT }, () => svg("path", { "vector-effect": "non-scaling-stroke" })),
  );
  const heads = Array.from({ length: 1 + MOST_COLUMNS }, () => h("th", { scope: "col" }));
  const rows = Array.from({ length: COUNT }, () => rowOf(h("th", { scope: "row" })));
  const foot = rowOf(h("th", { scope: "row" }, "output"));
  foot.line.className = "thread-output";
  /** What each square of a word stands for. */
  const legend = h("p", { class: "thread-legend small-label" });
  const text = h("p", { class: "thread-said", role: "status" });
  const size = { viewBox: `0 0 ${ARCS_WIDTH} ${COUNT}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  const drawing = svg("svg", { class: "thread-arcs", ...size }, ...arcs.flat());
  const lines = rows.map(({ line }) => line);
  const parts = [h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...lines), h("tfoot", {}, foot.line)];
  const board = h("div", { class: "thread-board" }, drawing, h("table", {}, ...parts));
  const idea = new Board({ steps: [""] });
  let sketch: Sketch | undefined;
  listenToSketch(idea.element, () => sketch, sketched);

  function show(scene: ThreadScene): void {
    const { words, asker, columns, output, said } = scene;
    [board.hidden, idea.element.hidden] = [scene.idea !== undefined, scene.idea === undefined];
    query.hidden = scene.idea !== undefined;
    sketch = scene.sketch;
    if (scene.idea !== undefined) idea.show(scene.idea);
    // What can be reached is no part of an image.
    idea.element.querySelector("svg")?.setAttribute("role", sketch === undefined ? "img" : "group");
    const { title = "", numbers, full = 1 } = scene.query ?? {};
    query.replaceChildren(title && `query: ${title} `, numbers ? squares(numbers, full, "query") : "");
    const powers = said.split(/\^([\d.−]+)/);
    text.replaceChildren(...powers.map((part, place) => (place % 2 === 0 ? part : h("sup", {}, part))));
    for (const [index, paths] of arcs.entries()) {
      const arc = scene.arcs[index];
      for (const [word, path] of paths.entries()) {
        const weight = word === asker ? 0 : (arc?.weights[word] ?? 0);
        if (asker >= 0) path.setAttribute("d", arcBetween(asker, word));
        path.setAttribute("class", `tone-${arc?.tone ?? "one"}`);
        path.style.setProperty("stroke-width", `${(weight * THICKEST).toFixed(2)}px`);
      }
    }
    for (const [index, head] of heads.entries()) {
      head.textContent = index === 0 ? scene.keyed : (columns[index - 1]?.title ?? "");
      head.hidden = index > columns.length;
    }
    for (const [word, { line, name, places }] of rows.entries()) {
      name.textContent = words[word] ?? "";
      line.classList.toggle("asking", word === asker);
      for (const [index, place] of places.entries()) {
        showCell(place, columns[index], word);
        place.hidden = index >= columns.length;
      }
    }
    foot.line.classList.toggle("none", output === undefined);
    for (const [index, place] of foot.places.entries()) {
      const shown = index === output?.column ? [squares(output.numbers, 1, "value"), ` ${output.whose ?? ""}`] : [];
      place.replaceChildren(...shown);
      place.hidden = index >= columns.length;
    }
    legend.textContent = legendOf(scene);
  }

  return { element: h("div", { class: "thread-picture" }, query, legend, board, idea.element, text), show };
}

function rowOf(name: HTMLElement) {
  const places = Array.from({ length: MOST_COLUMNS }, () => h("td", {}));
  return { line: h("tr", {}, name, ...places), name, places };
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

function showCell(place: HTMLElement, column: Column | undefined, word: number): void {
  if (column?.kind !== "bars") {
    const cells = column?.kind === "squares" ? squares(column.cells[word] ?? [], column.full, column.tone) : "";
    place.replaceChildren(column?.kind === "drawers" ? drawer(column, word) : cells);
    return;
  }
  const value = column.cells[word] ?? 0;
  let bar = place.querySelector<HTMLElement>(".thread-bar");
  if (bar === null) {
    bar = h("span", { class: "thread-bar" }, h("i", {}), h("small", {}));
    place.replaceChildren(bar);
  }
  bar.className = `thread-bar tone-${column.tone}`;
  bar.style.setProperty("--length", Math.min(1, value / column.most).toFixed(4));
  find("small", HTMLElement, bar).textContent = value === 0 ? "" : column.say(value);
}

function drawer({ cells, weights }: Extract<Column, { kind: "drawers" }>, word: number): HTMLElement {
  const made = h("span", { class: "thread-drawer" }, cells[word] ?? "");
  made.style.setProperty("--open", (weights[word] ?? 0).toFixed(3));
  return made;
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
