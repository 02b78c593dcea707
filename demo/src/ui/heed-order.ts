// <heed-order>: a line of words that can be dragged, or moved with the keyboard; whoever moves glides to the new place.

import { calm, h } from "./dom.js";
import { percent } from "./numbers.js";

export interface OrderView {
  readonly words: readonly string[];
  /** The word at each place. */
  readonly places: readonly number[];
  /** How much the word in the light takes from each word, by place. */
  readonly shares: readonly number[];
  /** By word. */
  readonly asker: number;
}

export interface OrderHandlers {
  readonly move: (places: readonly number[]) => void;
  readonly choose: (word: number) => void;
}

const GLIDE = { duration: 420, easing: "cubic-bezier(0.3, 0.7, 0.2, 1)" };
/** Pixels: less is a click. */
const DRAG_FROM = 6;

export class HeedOrder extends HTMLElement {
  handlers: OrderHandlers | undefined;
  #view: OrderView = { words: [], places: [], shares: [], asker: -1 };
  #items: HTMLLIElement[] = [];
  #list = h("ol", { class: "order-words" });
  #spoken = h("p", { class: "spoken", "aria-live": "polite" });
  #drag: { readonly word: number; readonly x: number; readonly y: number; moved: boolean } | undefined;

  connectedCallback(): void {
    if (this.firstChild !== null) return;
    this.append(this.#list, this.#spoken);
    this.#list.addEventListener("pointerdown", (event) => this.#begin(event));
    // On the window: the pointer leaves the word that it drags.
    addEventListener("pointermove", (event) => this.#dragTo(event));
    for (const end of ["pointerup", "pointercancel"] as const) addEventListener(end, () => this.#end());
    this.#list.addEventListener("click", (event) => {
      const word = this.#wordOf(event.target);
      if (word >= 0) this.handlers?.choose(word);
    });
    this.#list.addEventListener("keydown", (event) => this.#key(event));
  }

  show(view: OrderView): void {
    const before = this.#view;
    const boxes = this.#items.map((item) => item.getBoundingClientRect());
    this.#view = view;
    if (before.words.join("\n") !== view.words.join("\n")) this.#rebuild(view);
    else if (before.places.join() !== view.places.join()) this.#reorder(view, boxes);
    this.#items.forEach((item, word) => {
      this.#mark(item, word);
    });
  }

  /** By `by` places, if there is room; says where the word is now. */
  move(word: number, by: number): void {
    const { places, words } = this.#view;
    const from = places.indexOf(word);
    const to = Math.min(places.length - 1, Math.max(0, from + by));
    if (from < 0 || from === to) return;
    this.#spoken.textContent = `${words[word]}, now at place ${to + 1} of ${places.length}`;
    this.handlers?.move(movedTo(places, from, to));
  }

  #rebuild({ words, places }: OrderView): void {
    this.#items = words.map((word, index) =>
      h(
        "li",
        { "data-word": index },
        h("button", { type: "button", class: "order-word", dir: "auto" }, h("bdi", {}, word)),
        h("span", { class: "meter", "aria-hidden": "true" }, h("span")),
        h("small"),
      ),
    );
    this.#list.replaceChildren(...places.flatMap((word) => this.#items[word] ?? []));
  }

  /** Puts the words into their new places and lets each glide there from where it was. */
  #reorder({ places }: OrderView, boxes: readonly DOMRect[]): void {
    const focused = document.activeElement;
    this.#list.append(...places.flatMap((word) => this.#items[word] ?? []));
    if (focused instanceof HTMLElement && this.#list.contains(focused)) focused.focus({ preventScroll: true });
    if (calm()) return;
    this.#items.forEach((item, word) => {
      const [from, to] = [boxes[word], item.getBoundingClientRect()];
      if (from === undefined || (from.left === to.left && from.top === to.top)) return;
      item.animate(
        [{ transform: `translate(${from.left - to.left}px, ${from.top - to.top}px)` }, { transform: "none" }],
        GLIDE,
      );
    });
  }

  #mark(item: HTMLLIElement, word: number): void {
    const { asker, places, shares } = this.#view;
    const share = shares[places.indexOf(word)] ?? 0;
    item.classList.toggle("asking", word === asker);
    item.querySelector("button")?.setAttribute("aria-pressed", String(word === asker));
    const [bar, figure] = [item.querySelector<HTMLElement>(".meter > span"), item.querySelector("small")];
    bar?.style.setProperty("width", `${(share * 100).toFixed(1)}%`);
    if (figure !== null) figure.textContent = percent(share);
  }

  #wordOf(target: EventTarget | null): number {
    const item = target instanceof Element ? target.closest("li[data-word]") : null;
    return item instanceof HTMLElement ? Number(item.dataset["word"]) : -1;
  }

  #begin(event: PointerEvent): void {
    const word = this.#wordOf(event.target);
    if (word < 0 || event.button !== 0) return;
    this.#drag = { word, x: event.clientX, y: event.clientY, moved: false };
  }

  #dragTo(event: PointerEvent): void {
    const drag = this.#drag;
    if (drag === undefined) return;
    if (!drag.moved && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < DRAG_FROM) return;
    drag.moved = true;
    this.classList.add("dragging");
    const { places } = this.#view;
    const over = this.#placeAt(event.clientX, event.clientY);
    const from = places.indexOf(drag.word);
    if (over >= 0 && over !== from) this.handlers?.move(movedTo(places, from, over));
  }

  #end(): void {
    this.#drag = undefined;
    this.classList.remove("dragging");
  }

  /** The place whose word lies under the pointer, where the words will be once they have glided. */
  #placeAt(x: number, y: number): number {
    return this.#view.places.findIndex((word) => {
      const item = this.#items[word];
      if (item === undefined) return false;
      const own = this.getBoundingClientRect();
      const [left, top] = [own.left + item.offsetLeft, own.top + item.offsetTop];
      return x >= left && x <= left + item.offsetWidth && y >= top - 12 && y <= top + item.offsetHeight + 12;
    });
  }

  #key(event: KeyboardEvent): void {
    const word = this.#wordOf(event.target);
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (word < 0 || by === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.shiftKey) {
      this.move(word, by);
      return;
    }
    const { places } = this.#view;
    const next = places[places.indexOf(word) + by];
    if (next !== undefined) this.#items[next]?.querySelector("button")?.focus();
  }
}

function movedTo(places: readonly number[], from: number, to: number): readonly number[] {
  const rest = places.filter((_, place) => place !== from);
  const word = places[from];
  return word === undefined ? places : [...rest.slice(0, to), word, ...rest.slice(to)];
}

customElements.define("heed-order", HeedOrder);
