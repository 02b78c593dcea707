// <heed-heads>: every head as a small picture. Pressing one selects it.

import { adopt, elementWith, h } from "./dom.js";
import style from "./heads.css?raw";
import { formatShare } from "./numbers.js";
import theme from "./theme.css?raw";
import { at, checkWeights, headCount, headOf, type Matrix, type Weights } from "./weights.js";

/** The detail of its `select` event. */
export interface HeadsSelection {
  readonly head: number;
}

/** The events of <heed-heads>. */
export interface HeadsEvents {
  readonly select: CustomEvent<HeadsSelection>;
}

const EMPTY: Weights = { data: [], shape: [0, 0, 0] };

/** The element `<heed-heads>`: every head as a small picture. */
export class HeedHeads extends elementWith<HeadsEvents>() {
  static readonly observedAttributes = ["selected"];
  #weights = EMPTY;
  #list = h("div", { class: "heads-list", role: "group" });
  #buttons: HTMLButtonElement[] = [];

  connectedCallback(): void {
    adopt(this, theme + style);
    if (this.firstChild !== null) return;
    this.#list.setAttribute("aria-label", this.getAttribute("label") ?? "Heads");
    this.append(this.#list);
    this.#list.addEventListener("click", (event) => {
      const button = event.target instanceof Element ? event.target.closest("button") : null;
      const head = button === null ? -1 : this.#buttons.indexOf(button);
      if (head < 0) return;
      this.selected = head;
      const detail: HeadsSelection = { head };
      this.dispatchEvent(new CustomEvent("select", { detail }));
    });
    this.#draw();
  }

  attributeChangedCallback(): void {
    this.#mark();
  }

  get weights(): Weights {
    return this.#weights;
  }

  set weights(weights: Weights) {
    this.#weights = checkWeights("<heed-heads>.weights", weights);
    this.#draw();
  }

  get selected(): number {
    return Number(this.getAttribute("selected") ?? 0);
  }

  set selected(head: number) {
    this.setAttribute("selected", String(head));
  }

  #draw(): void {
    const count = headCount(this.#weights);
    if (this.#buttons.length !== count) {
      this.#buttons = Array.from({ length: count }, (_, head) =>
        h("button", { type: "button", class: "head" }, h("canvas"), h("span", {}, `${head + 1}`)),
      );
      this.#list.replaceChildren(...this.#buttons);
    }
    this.#buttons.forEach((button, head) => {
      const matrix = headOf(this.#weights, head);
      button.setAttribute("aria-label", `Head ${head + 1}: ${describe(matrix)}`);
      const canvas = button.querySelector("canvas");
      if (canvas !== null) paint(canvas, matrix);
    });
    this.#mark();
  }

  #mark(): void {
    this.#buttons.forEach((button, head) => {
      button.setAttribute("aria-pressed", String(head === this.selected));
    });
  }
}

/** As opaque as a weight is large: the ground below gives the colour. */
function paint(canvas: HTMLCanvasElement, matrix: Matrix): void {
  const { rows, cols } = matrix;
  [canvas.width, canvas.height] = [Math.max(1, cols), Math.max(1, rows)];
  if (rows * cols === 0) return;
  const colours = new Uint8ClampedArray(rows * cols * 4);
  const [red, green, blue] = colourOf(canvas);
  for (let index = 0; index < rows * cols; index++) {
    const weight = matrix.data[index] ?? 0;
    colours.set([red, green, blue, 255 * Math.sqrt(Math.min(1, Math.max(0, weight)))], index * 4);
  }
  canvas.getContext("2d")?.putImageData(new ImageData(colours, cols, rows), 0, 0);
}

/** The theme's colour in numbers: a canvas of one pixel knows every way to write one. */
function colourOf(canvas: HTMLCanvasElement): readonly [number, number, number] {
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (pixel === null) return [90, 60, 170];
  pixel.fillStyle = getComputedStyle(canvas).color;
  pixel.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = pixel.getImageData(0, 0, 1, 1).data;
  return [red, green, blue];
}

/** A description of the picture: the mean weight of the query's own key, of the first key, and of the key before. */
function describe(matrix: Matrix): string {
  const mean = (key: (row: number) => number): number => {
    let sum = 0;
    for (let row = 0; row < matrix.rows; row++) sum += key(row) < 0 ? 0 : at(matrix, row, key(row)) || 0;
    return matrix.rows === 0 ? 0 : sum / matrix.rows;
  };
  const offset = matrix.cols - matrix.rows;
  const parts = [
    `${formatShare(mean((row) => row + offset))} to oneself`,
    `${formatShare(mean((row) => row + offset - 1))} to the one before`,
    `${formatShare(mean(() => 0))} to the first`,
  ];
  return parts.join(", ");
}
