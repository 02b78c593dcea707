// <heed-matrix>: numbers as coloured cells in a real table; the arrow keys move in it, editable cells take digits and pasted blocks.

import { adopt, elementWith, h } from "./dom.js";
import style from "./matrix.css?raw";
import { formatNumber, formatSingle, LARGEST_TYPED, parseNumber, WHAT_IS_TYPED } from "./numbers.js";
import { readBlock } from "./paste.js";
import theme from "./theme.css?raw";
import { at, checkWeights, headOf, type Matrix, type Weights } from "./weights.js";

/** What `<heed-matrix>` shows: numbers, titles, labels and colours. */
export interface MatrixView {
  /** What the cells are called in arithmetic. */
  readonly name: string;
  readonly title: string;
  /** One line under the title. */
  readonly about: string;
  readonly matrix: Matrix;
  readonly rowLabels: readonly string[];
  readonly colLabels: readonly string[];
  /** "signed": two colours around zero; "share": one colour from 0 to 1. */
  readonly tone: "signed" | "share";
  /** The absolute value that gets the full colour. */
  readonly full: number;
  readonly editable?: boolean;
  /** Masked cells. */
  readonly struck?: (row: number, col: number) => boolean;
  /** Columns that belong to the selected head; the others are dimmed. */
  readonly inView?: (col: number) => boolean;
  /** Labels with a dotted underline, whose meaning `about` explains. */
  readonly noted?: (label: string) => boolean;
}

/** Rows and columns to highlight; a cell where both are given. */
export interface Light {
  readonly row?: number;
  readonly col?: number;
}

/** The detail of `select`, when a cell was pressed or the keyboard reached it, and of `inspect`, when the pointer did. */
export interface MatrixSelection {
  readonly name: string;
  readonly row: number;
  readonly col: number;
  readonly value: number;
}

/** The detail of `edit`: the numbers that were typed or pasted, from this cell on. The matrix changes only when the page shows a new one. */
export interface MatrixEdit {
  readonly name: string;
  readonly row: number;
  readonly col: number;
  readonly values: readonly (readonly number[])[];
}

/** The events of <heed-matrix>. */
export interface MatrixEvents {
  readonly select: CustomEvent<MatrixSelection>;
  readonly inspect: CustomEvent<MatrixSelection>;
  readonly edit: CustomEvent<MatrixEdit>;
  readonly leave: CustomEvent<null>;
}

const NUDGE = 0.1;
/** Levels of colour at which the text changes its own, see --on-low in style.ts. */
const DARK_THEME_FLIPS = 0.584;
const LIGHT_THEME_FLIPS = 0.753;

const LABELLED = { rowLabels: [], columnLabels: [] } as const;

/** The element `<heed-matrix>`: one head as a table of coloured numbers. */
export class HeedMatrix extends elementWith<MatrixEvents>() {
  static readonly observedAttributes = ["head", "label", "tone"];
  #view: MatrixView | undefined;
  #weights: Weights | undefined;
  #labels: { readonly rowLabels: readonly string[]; readonly columnLabels: readonly string[] } = LABELLED;
  #cells: HTMLTableCellElement[] = [];
  #title = h("span", { class: "matrix-title" });
  #about = h("span", { class: "matrix-about" });
  #table = h("table", { role: "grid" });
  #frame = h("div", { class: "matrix-frame" }, this.#table);
  #trouble = h("p", { class: "matrix-trouble", role: "alert" });
  #row = 0;
  #col = 0;

  connectedCallback(): void {
    adopt(this, theme + style);
    if (this.firstChild !== null) return;
    this.append(h("div", { class: "matrix-caption" }, this.#title, this.#about), this.#frame, this.#trouble);
    this.#table.addEventListener("pointerover", (event) => this.#point(event, false));
    this.#table.addEventListener("pointerleave", () => this.#send("leave", undefined));
    this.#table.addEventListener("click", (event) => this.#point(event, true));
    this.#table.addEventListener("dblclick", (event) => this.#startEdit(cellOf(event.target), null));
    this.#table.addEventListener("focusin", (event) => this.#focused(event));
    this.#table.addEventListener("keydown", (event) => this.#key(event));
    this.#table.addEventListener("paste", (event) => this.#paste(event));
    // The text field has an event of this name too, when its text is selected.
    this.#table.addEventListener("select", (event) => event.stopPropagation());
  }

  attributeChangedCallback(): void {
    this.#showWeights();
  }

  /** The last two axes are shown, of the head that the attribute `head` names. */
  get weights(): Weights | undefined {
    return this.#weights;
  }

  set weights(weights: Weights) {
    this.#weights = checkWeights("<heed-matrix>.weights", weights);
    this.#showWeights();
  }

  get rowLabels(): readonly string[] {
    return this.#labels.rowLabels;
  }

  set rowLabels(rowLabels: readonly string[]) {
    this.#labels = { ...this.#labels, rowLabels };
    this.#showWeights();
  }

  get columnLabels(): readonly string[] {
    return this.#labels.columnLabels;
  }

  set columnLabels(columnLabels: readonly string[]) {
    this.#labels = { ...this.#labels, columnLabels };
    this.#showWeights();
  }

  get head(): number {
    return Number(this.getAttribute("head") ?? 0);
  }

  set head(head: number) {
    this.setAttribute("head", String(head));
  }

  #showWeights(): void {
    if (this.#weights === undefined) return;
    const matrix = headOf(this.#weights, this.head);
    const tone = this.getAttribute("tone") === "signed" ? "signed" : "share";
    const { rowLabels, columnLabels } = this.#labels;
    this.show({
      name: "weights",
      title: this.getAttribute("label") ?? "weights",
      about: "",
      matrix,
      rowLabels: Array.from({ length: matrix.rows }, (_, row) => rowLabels[row] ?? String(row + 1)),
      colLabels: Array.from({ length: matrix.cols }, (_, col) => columnLabels[col] ?? String(col + 1)),
      tone,
      full: tone === "share" ? 1 : largest(matrix),
    });
  }

  #send(type: "inspect" | "select" | "edit" | "leave", detail: MatrixSelection | MatrixEdit | undefined): void {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  #selection(row: number, col: number): MatrixSelection {
    const view = this.#view;
    return { name: view?.name ?? "", row, col, value: view === undefined ? Number.NaN : at(view.matrix, row, col) };
  }

  get view(): MatrixView | undefined {
    return this.#view;
  }

  show(view: MatrixView): void {
    const before = this.#view;
    this.#view = view;
    this.dataset["name"] = view.name;
    const [title = "", below] = view.title.split("_");
    this.#title.replaceChildren(title, ...(below === undefined ? [] : [h("sub", {}, below)]));
    this.#about.textContent = view.about;
    const { rows, cols } = view.matrix;
    this.#table.setAttribute(
      "aria-label",
      `${view.title.replace("_", " ")}${view.about === "" ? "" : `: ${view.about}`}, ${rows} by ${cols}`,
    );
    if (!sameFrame(before, view)) this.#rebuild(view);
    this.#cells.forEach((cell, index) => {
      paint(cell, view, Math.floor(index / cols), index % cols);
    });
  }

  light(lights: readonly Light[]): void {
    for (const cell of this.#cells) {
      const row = Number(cell.dataset["row"]);
      const col = Number(cell.dataset["col"]);
      const lit = lights.filter((light) => (light.row ?? row) === row && (light.col ?? col) === col);
      const whole = lit.some((light) => light.row !== undefined && light.col !== undefined);
      cell.classList.toggle("lit-cell", whole);
      cell.classList.toggle("lit-row", !whole && lit.some((light) => light.col === undefined));
      cell.classList.toggle("lit-col", !whole && lit.some((light) => light.row === undefined));
    }
  }

  /** How far the columns are scrolled, in pixels. */
  get scrolled(): number {
    return this.#frame.scrollLeft;
  }

  set scrolled(left: number) {
    this.#frame.scrollLeft = left;
  }

  /** Starts the short animation in which the cells appear. */
  appear(): void {
    const { classList } = this.#table;
    // Removing a class and adding it again has an effect only if the table is laid out in between.
    if (classList.contains("appear")) {
      classList.remove("appear");
      void this.#table.offsetWidth;
    }
    classList.add("appear");
  }

  #rebuild(view: MatrixView): void {
    const { rows, cols } = view.matrix;
    const hadFocus = this.#table.contains(document.activeElement);
    this.#row = Math.min(this.#row, Math.max(0, rows - 1));
    this.#col = Math.min(this.#col, Math.max(0, cols - 1));
    this.#cells = [];
    const labelled = (scope: "row" | "col", label = ""): HTMLTableCellElement => {
      const about = { dir: "auto", class: view.noted?.(label) === true ? "noted" : undefined };
      return h("th", { scope, title: label }, h("span", about, label));
    };
    const head = h("tr", {}, h("td", { class: "corner" }));
    for (let col = 0; col < cols; col++) head.append(labelled("col", view.colLabels[col]));
    const body = h("tbody");
    for (let row = 0; row < rows; row++) {
      const line = h("tr", {}, labelled("row", view.rowLabels[row]));
      for (let col = 0; col < cols; col++) {
        const cell = h("td", { role: "gridcell", tabindex: -1, "data-row": row, "data-col": col });
        cell.style.setProperty("--wave", String(row + col));
        this.#cells.push(cell);
        line.append(cell);
      }
      body.append(line);
    }
    this.#table.replaceChildren(h("thead", {}, head), body);
    this.#table.classList.toggle("editable", view.editable === true);
    const current = this.#cell(this.#row, this.#col);
    if (current !== undefined) current.tabIndex = 0;
    if (hadFocus) current?.focus();
  }

  #cell(row: number, col: number): HTMLTableCellElement | undefined {
    return this.#cells[row * (this.#view?.matrix.cols ?? 0) + col];
  }

  #point(event: Event, held: boolean): void {
    const cell = cellOf(event.target);
    if (cell === undefined) return;
    const selection = this.#selection(Number(cell.dataset["row"]), Number(cell.dataset["col"]));
    this.#send(held ? "select" : "inspect", selection);
    if (held && !cell.contains(document.activeElement)) cell.focus({ preventScroll: true });
  }

  #focused(event: Event): void {
    const cell = cellOf(event.target);
    if (cell === undefined) return;
    const old = this.#cell(this.#row, this.#col);
    if (old !== undefined) old.tabIndex = -1;
    this.#row = Number(cell.dataset["row"]);
    this.#col = Number(cell.dataset["col"]);
    cell.tabIndex = 0;
    this.#send("select", this.#selection(this.#row, this.#col));
  }

  #key(event: KeyboardEvent): void {
    const view = this.#view;
    if (view === undefined || event.target instanceof HTMLInputElement) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = this.#destination(event.key, view.matrix);
    if (target !== undefined) {
      event.preventDefault();
      this.#cell(...target)?.focus();
      return;
    }
    if (view.editable !== true) return;
    const now = Number(formatSingle(at(view.matrix, this.#row, this.#col)));
    if (event.key === "+" || event.key === "=") this.#set(now + NUDGE);
    else if (event.key === "_") this.#set(now - NUDGE);
    else if (event.key === "Delete" || event.key === "Backspace") this.#set(0);
    else if (event.key === "Enter" || event.key === "F2") this.#startEdit(this.#cell(this.#row, this.#col), null);
    else if (/^[\d.,−-]$/.test(event.key)) this.#startEdit(this.#cell(this.#row, this.#col), event.key);
    else return;
    event.preventDefault();
  }

  #destination(key: string, { rows, cols }: Matrix): readonly [number, number] | undefined {
    const [row, col] = [this.#row, this.#col];
    switch (key) {
      case "ArrowRight":
        return [row, Math.min(cols - 1, col + 1)];
      case "ArrowLeft":
        return [row, Math.max(0, col - 1)];
      case "ArrowDown":
        return [Math.min(rows - 1, row + 1), col];
      case "ArrowUp":
        return [Math.max(0, row - 1), col];
      case "Home":
        return [row, 0];
      case "End":
        return [row, cols - 1];
      default:
        return undefined;
    }
  }

  #set(value: number): void {
    const most = Math.min(LARGEST_TYPED, Math.max(-LARGEST_TYPED, value));
    this.#edited(this.#row, this.#col, [[Number(formatSingle(most))]]);
  }

  #startEdit(cell: HTMLTableCellElement | undefined, typed: string | null): void {
    const view = this.#view;
    if (cell === undefined || view?.editable !== true || cell.querySelector("input") !== null) return;
    const [row, col] = [Number(cell.dataset["row"]), Number(cell.dataset["col"])];
    const input = h("input", { type: "text", inputmode: "decimal", "aria-label": `${view.title}, new value`, size: 5 });
    input.value = typed ?? formatSingle(at(view.matrix, row, col));
    let closed = false;
    const close = (keep: boolean): void => {
      // Removing the field blurs it, which would close it once more.
      if (closed) return;
      closed = true;
      const value = keep ? parseNumber(input.value) : null;
      this.#complain(keep && value === null ? `“${input.value}” was not taken. ${WHAT_IS_TYPED}` : "");
      const focused = document.activeElement === input;
      input.remove();
      paint(cell, view, row, col);
      if (focused) cell.focus();
      if (value !== null) this.#edited(row, col, [[value]]);
    };
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === "Escape" || parseNumber(input.value) !== null) {
        close(event.key === "Enter");
        return;
      }
      input.setAttribute("aria-invalid", "true");
      this.#complain(WHAT_IS_TYPED);
    });
    input.addEventListener("input", () => {
      if (parseNumber(input.value) === null) return;
      input.removeAttribute("aria-invalid");
      this.#complain("");
    });
    input.addEventListener("blur", () => close(true));
    cell.replaceChildren(input);
    input.focus();
    if (typed === null) input.select();
  }

  #paste(event: ClipboardEvent): void {
    if (this.#view?.editable !== true || event.target instanceof HTMLInputElement) return;
    const values = readBlock(event.clipboardData?.getData("text/plain") ?? "");
    event.preventDefault();
    if (values === null) {
      this.#complain(`What was pasted was not taken. ${WHAT_IS_TYPED}`);
      return;
    }
    this.#edited(this.#row, this.#col, values);
  }

  /** Below the matrix, until a number is taken. */
  #complain(text: string): void {
    this.#trouble.textContent = text;
  }

  #edited(row: number, col: number, values: MatrixEdit["values"]): void {
    this.#complain("");
    this.#send("edit", { name: this.#view?.name ?? "", row, col, values });
  }
}

function largest({ data }: Matrix): number {
  let most = 0;
  for (const value of Array.from(data)) if (Number.isFinite(value)) most = Math.max(most, Math.abs(value));
  return most === 0 ? 1 : most;
}

function sameFrame(a: MatrixView | undefined, b: MatrixView): boolean {
  return (
    a !== undefined &&
    a.matrix.rows === b.matrix.rows &&
    a.matrix.cols === b.matrix.cols &&
    a.editable === b.editable &&
    a.rowLabels.every((label, index) => label === b.rowLabels[index]) &&
    a.colLabels.every((label, index) => label === b.colLabels[index])
  );
}

function paint(cell: HTMLTableCellElement, view: MatrixView, row: number, col: number): void {
  const value = at(view.matrix, row, col);
  const struck = view.struck?.(row, col) === true;
  const level = Number.isFinite(value) ? Math.min(1, Math.abs(value) / view.full) : 0;
  if (cell.firstElementChild === null) cell.textContent = formatNumber(value);
  cell.style.setProperty("--level", level.toFixed(3));
  cell.dataset["tone"] = view.tone === "share" ? "share" : value < 0 ? "below" : "above";
  cell.dataset["ink"] = level > LIGHT_THEME_FLIPS ? "high" : level > DARK_THEME_FLIPS ? "middle" : "low";
  cell.classList.toggle("zero", value === 0);
  cell.classList.toggle("struck", struck);
  cell.classList.toggle("aside", view.inView !== undefined && !view.inView(col));
}

function cellOf(target: EventTarget | null): HTMLTableCellElement | undefined {
  const cell = target instanceof Element ? target.closest("td[data-row]") : null;
  return cell instanceof HTMLTableCellElement ? cell : undefined;
}
