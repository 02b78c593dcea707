// <heed-order>: a line of words that can be dragged, or moved with the keyboard. A dragged word stays under the pointer; words that
// cross go above and below the line.

import { calm, h } from "./dom.js";
import { type Lane, lanesOf } from "./lanes.js";
import { percent } from "./numbers.js";

export interface OrderView {
  readonly words: readonly string[];
  /** The word at each position. */
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
/** A word leaves the line, moves and comes back: one after the other, so that it meets none on the way. */
const CROSS = { duration: 1000 };
const [LEFT, BACK] = [0.25, 0.75];
/** Pixels: less is a click. */
const DRAG_FROM = 6;

export class HeedOrder extends HTMLElement {
  handlers: OrderHandlers | undefined;
  #view: OrderView = { words: [], places: [], shares: [], asker: -1 };
  #items: HTMLLIElement[] = [];
  #list = h("ol", { class: "order-words", dir: "auto" });
  #spoken = h("p", { class: "spoken", "aria-live": "polite" });
  #drag:
    | { readonly word: number; readonly x: number; readonly y: number; readonly grip: DOMPoint; moved: boolean }
    | undefined;

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
    else if (before.places.join() !== view.places.join()) this.#reorder(before, boxes);
    this.#items.forEach((item, word) => {
      this.#mark(item, word);
    });
  }

  /** Moves a word to the right by so many positions, or to the left where `by` is negative, if there is room. */
  shift(word: number, by: number): void {
    this.#move(word, this.#onward(by));
  }

  /** A sentence may run from the right. */
  #onward(by: number): number {
    return getComputedStyle(this.#list).direction === "rtl" ? -by : by;
  }

  /** Says where the word is now. */
  #move(word: number, by: number): void {
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
        h("button", { type: "button", class: "order-word" }, word),
        h("span", { class: "meter", "aria-hidden": "true" }, h("span")),
        h("small"),
      ),
    );
    this.#list.replaceChildren(...places.flatMap((word) => this.#items[word] ?? []));
  }

  /** Puts the words into their new positions, and animates each from where it was. */
  #reorder(before: OrderView, boxes: readonly DOMRect[]): void {
    const { places } = this.#view;
    // Otherwise their new positions would be measured while they are still moving.
    for (const motion of this.getAnimations({ subtree: true })) motion.cancel();
    const focused = document.activeElement;
    this.#list.append(...places.flatMap((word) => this.#items[word] ?? []));
    if (focused instanceof HTMLElement && this.#list.contains(focused)) focused.focus({ preventScroll: true });
    if (calm()) return;
    const isFree = (word: number): boolean => word !== this.#drag?.word;
    const lanes = lanesOf(before.places.filter(isFree), places.filter(isFree));
    const crosses = [...lanes.values()].some((lane) => lane !== "line");
    const now = this.#items.map((item) => item.getBoundingClientRect());
    const isOneLine = [...boxes, ...now].every(({ top }) => top === boxes[0]?.top);
    for (const [word, lane] of lanes) {
      const [item, from, to] = [this.#items[word], boxes[word], now[word]];
      if (item === undefined || from === undefined || to === undefined) continue;
      const way = { x: from.left - to.left, y: from.top - to.top };
      if (crosses) cross(item, way, isOneLine || (lane === "line" && way.y === 0) ? lane : "unseen");
      else item.animate([{ transform: `translate(${way.x}px, ${way.y}px)` }, { transform: "none" }], GLIDE);
    }
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
    const { left = 0, top = 0 } = this.#items[word]?.getBoundingClientRect() ?? {};
    const [x, y] = [event.clientX, event.clientY];
    this.#drag = { word, x, y, grip: new DOMPoint(x - left, y - top), moved: false };
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
    const item = this.#items[drag.word];
    if (item === undefined) return;
    const [left, top] = this.#cornerOf(item);
    item.classList.add("held");
    const [x, y] = [event.clientX - drag.grip.x - left, event.clientY - drag.grip.y - top].map(Math.round);
    item.style.translate = `${x}px ${y}px`;
  }

  #end(): void {
    const item = this.#items[this.#drag?.word ?? -1];
    this.#drag = undefined;
    this.classList.remove("dragging");
    if (item === undefined || item.style.translate === "") return;
    if (!calm()) item.animate([{ translate: item.style.translate }, { translate: "none" }], GLIDE);
    item.style.translate = "";
    item.classList.remove("held");
  }

  /** Where a word will be once it is there, in the window. */
  #cornerOf(item: HTMLElement): readonly [number, number] {
    const own = this.getBoundingClientRect();
    return [own.left + item.offsetLeft, own.top + item.offsetTop];
  }

  /** The place whose word lies under the pointer, where the words will be once they have glided. */
  #placeAt(x: number, y: number): number {
    return this.#view.places.findIndex((word) => {
      const item = this.#items[word];
      if (item === undefined) return false;
      const [left, top] = this.#cornerOf(item);
      return x >= left && x <= left + item.offsetWidth && y >= top - 12 && y <= top + item.offsetHeight + 12;
    });
  }

  #key(event: KeyboardEvent): void {
    const word = this.#wordOf(event.target);
    const by = this.#onward(event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0);
    if (word < 0 || by === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.shiftKey) {
      this.#move(word, by);
      return;
    }
    const { places } = this.#view;
    const next = places[places.indexOf(word) + by];
    if (next !== undefined) this.#items[next]?.querySelector("button")?.focus();
  }
}

/** Figures are unseen meanwhile: they would be beside the wrong word. */
function cross(item: HTMLElement, { x, y }: { readonly x: number; readonly y: number }, lane: Lane): void {
  const [word, ...figures] = item.children;
  const height = word?.clientHeight ?? 0;
  const lift = lane === "above" ? -height : lane === "below" ? height : 0;
  const unseen = [{ opacity: 1 }, { opacity: 0, offset: LEFT }, { opacity: 0, offset: BACK }, { opacity: 1 }];
  item.animate(
    [
      { transform: `translate(${x}px, ${y}px)`, easing: "ease-in-out" },
      { transform: `translate(${x}px, ${y + lift}px)`, offset: LEFT, easing: "ease-in-out" },
      { transform: `translate(0, ${lift}px)`, offset: BACK, easing: "ease-in-out" },
      { transform: "none" },
    ],
    CROSS,
  );
  for (const part of lane === "unseen" ? item.children : figures) part.animate(unseen, CROSS);
}

function movedTo(places: readonly number[], from: number, to: number): readonly number[] {
  const rest = places.filter((_, place) => place !== from);
  const word = places[from];
  return word === undefined ? places : [...rest.slice(0, to), word, ...rest.slice(to)];
}

customElements.define("heed-order", HeedOrder);
