// <heed-pixels>: a small picture whose pixels can be pointed at, or walked with the arrow keys.

import { goalOf, h } from "./dom.js";
import { exact } from "./numbers.js";

export interface PixelsView {
  readonly title: string;
  readonly about: string;
  readonly size: number;
  /** One number a pixel, or three. */
  readonly data: ArrayLike<number>;
  readonly channels: 1 | 3;
  /** The numbers that become black and white. */
  readonly range: readonly [number, number];
  /** The pixel in the light. */
  readonly cursor: number;
}

export class HeedPixels extends HTMLElement {
  choose: (pixel: number) => void = () => {};
  #view: PixelsView | undefined;
  #title = h("b");
  #about = h("span");
  #canvas = h("canvas");
  #mark = h("span", { class: "pixel-mark", "aria-hidden": "true" });
  /** For those who hear the page and walk with the keyboard. */
  #spoken = h("span", { class: "spoken", role: "status" });
  #stage = h("div", { class: "pixels-stage", tabindex: 0, role: "application" }, this.#canvas, this.#mark);

  connectedCallback(): void {
    if (this.firstChild !== null) return;
    this.append(h("p", { class: "pixels-caption" }, this.#title, " ", this.#about), this.#stage, this.#spoken);
    this.#stage.addEventListener("pointerdown", (event) => this.#pointed(event));
    this.#stage.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse" || event.buttons > 0) this.#pointed(event);
    });
    this.#stage.addEventListener("keydown", (event) => this.#key(event));
  }

  show(view: PixelsView): void {
    this.#view = view;
    const { size, cursor } = view;
    this.#title.textContent = view.title;
    this.#about.textContent = view.about;
    Object.assign(this.#canvas, { width: size, height: size });
    this.#canvas.getContext("2d")?.putImageData(new ImageData(coloursOf(view), size, size), 0, 0);
    const [row, col] = [Math.floor(cursor / size), cursor % size];
    const [left, top, edge] = [col, row, 1].map((pixels) => `${(100 * pixels) / size}%`);
    Object.assign(this.#mark.style, { insetInlineStart: left, top, width: edge, height: edge });
    const here = `row ${row + 1}, column ${col + 1}: ${figuresAt(view, cursor).join(", ")}`;
    if (this.#stage.matches(":focus-visible")) this.#spoken.textContent = here;
    this.#stage.ariaLabel = `${view.title}, ${size} by ${size} pixels; ${here}`;
  }

  #pointed(event: PointerEvent): void {
    const view = this.#view;
    if (view === undefined) return;
    const box = this.#stage.getBoundingClientRect();
    const place = (at: number, from: number, length: number): number =>
      Math.min(view.size - 1, Math.max(0, Math.floor(((at - from) / length) * view.size)));
    const pixel = place(event.clientY, box.top, box.height) * view.size + place(event.clientX, box.left, box.width);
    if (pixel !== view.cursor) this.choose(pixel);
  }

  #key(event: KeyboardEvent): void {
    const view = this.#view;
    if (view === undefined) return;
    const { size, cursor } = view;
    const [row, col] = [Math.floor(cursor / size), cursor % size];
    const goal = goalOf(event, {
      ArrowRight: row * size + Math.min(size - 1, col + 1),
      ArrowLeft: row * size + Math.max(0, col - 1),
      ArrowDown: Math.min(size - 1, row + 1) * size + col,
      ArrowUp: Math.max(0, row - 1) * size + col,
    });
    if (goal !== undefined) this.choose(goal);
  }
}

function figuresAt({ data, channels }: PixelsView, pixel: number): readonly string[] {
  return Array.from({ length: channels }, (_, channel) => exact(data[pixel * channels + channel] ?? Number.NaN, 3));
}

function coloursOf({ data, channels, size, range: [black, white] }: PixelsView) {
  const colours = new Uint8ClampedArray(size * size * 4);
  for (let at = 0; at < colours.length; at++) {
    const part = at % 4;
    const number = data[(at >> 2) * channels + (part % channels)] ?? 0;
    colours[at] = part === 3 ? 255 : (255 * (number - black)) / (white - black);
  }
  return colours;
}

customElements.define("heed-pixels", HeedPixels);
