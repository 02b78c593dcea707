// Tables of figures: names above and before each line.

import { h } from "./dom.js";

type Said = Node | string;

/** An empty name is a corner. */
export function heads(...names: readonly string[]): HTMLElement {
  const cells = names.map((name) => (name === "" ? h("td") : h("th", { scope: "col" }, name)));
  return h("thead", {}, h("tr", {}, ...cells));
}

export function line(name: Said, figures: readonly Said[], look?: string): HTMLTableRowElement {
  return h("tr", { class: look }, h("th", { scope: "row" }, name), ...figures.map((figure) => h("td", {}, figure)));
}

/** Scrolls sideways where there is no room for the table, by keyboard as well. */
export function tableFrame(label: string, table: HTMLElement): HTMLElement {
  return h("div", { class: "table-frame", tabindex: 0, role: "region", "aria-label": label }, table);
}

/** The numbers behind a picture, which the keyboard scrolls as well. */
export function behind(table: HTMLElement, label = "As a table"): HTMLDetailsElement {
  const frame = h("div", { tabindex: 0, role: "group", "aria-label": label }, table);
  return h("details", { class: "as-table" }, h("summary", {}, label), frame);
}

/** A figure in a list of them: its name above, a note beside it. */
export function fact(name: string, value: string, note = "", ...more: readonly HTMLElement[]): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, " ", h("small", {}, note), ...more));
}
