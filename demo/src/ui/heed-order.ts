// <heed-order>: a line of words that can be dragged, or moved with the keyboard. Where a word stands is a function of the scrubber's place or
// of the pointer's: words that cross travel over the line, one above the other.

import { Board, during, mix, type View } from "./board.js";
import { calm, goalOf, h } from "./dom.js";

/** The left upper corner and the width of a word, in pixels of the board. */
export interface Spot extends Readonly<Record<"x" | "y" | "width" | "opacity", number>> {
  /** It leaves the line on its way. */
  readonly leaves: boolean;
}

type Places = readonly number[];

/** Pixels; the widths by word. */
interface Sizes extends Readonly<Record<"board" | "gap" | "start", number>> {
  readonly widths: readonly number[];
}

export interface Way {
  /** The word at each position, before and after the last move. */
  readonly from: Places;
  readonly to: Places;
  readonly at: number;
  readonly width: number;
  readonly spots: readonly Spot[];
  /** Where words were, or will be. */
  readonly spotsAt: (at: number) => readonly Spot[];
}

interface OrderView {
  readonly words: readonly string[];
  /** The word at each position. */
  readonly places: Places;
  /** By word. */
  readonly asker: number;
  /** What stands around the words, and a figure below each. */
  readonly draw: (way: Way) => View & { readonly figures: readonly string[] };
}

interface OrderHandlers {
  readonly move: (places: Places) => void;
  readonly choose: (word: number) => void;
  /** Something beside the words was pressed. */
  readonly pick: (name: string) => void;
}

/** Pixels: a word with its figure, and the line below two of them. */
export const [TALL, LINE] = [56, 116];
const [LARGEST, SMALLEST, NARROWEST, GAP] = [28, 11, 30, 17];
const GLIDE = { duration: 300, easing: "cubic-bezier(0.3, 0.7, 0.2, 1)" };
/** Pixels: less is a click. */
const DRAG_FROM = 6;
const NOTHING = { height: 0, shapes: [], said: "", figures: [] };
/** Of the lanes; there is no room for a third one above the line, so that such a word is not seen on its way. */
const LEVELS = { line: 0, above: 1, below: 2, unseen: 1 } as const;
type Lane = keyof typeof LEVELS;

export class HeedOrder extends HTMLElement {
  handlers: OrderHandlers | undefined;
  #view: OrderView = { words: [], places: [], asker: -1, draw: () => NOTHING };
  #from: Places = [];
  #to: Places = [];
  /** Where the dragged word would be. */
  #wanted: Places = [];
  /** Where the board is, or is going. */
  #place = 0;
  #items: HTMLLIElement[] = [];
  #natural: readonly number[] = [];
  readonly #list = h("ol", { class: "order-words", dir: "auto" });
  readonly #spoken = h("p", { class: "spoken", "aria-live": "polite" });
  readonly #board = new Board({
    steps: ["before", "after"],
    moved: (at) => this.#moved(at),
    picked: (name) => this.handlers?.pick(name),
  });
  #drag: { readonly word: number; readonly from: DOMPoint; readonly grip: DOMPoint; at?: DOMPoint } | undefined;

  connectedCallback(): void {
    if (this.firstChild !== null) return;
    this.#board.element.firstElementChild?.append(this.#list);
    this.append(this.#board.element, this.#spoken);
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
    const { words, places } = view;
    const isOther = this.#view.words.join("\n") !== words.join("\n");
    this.#view = view;
    const written = words.map((_, word) => word);
    const [before, isWritten] = [this.#now, same(written, places)];
    let [at, leaps] = [this.#board.at, false];
    if (this.#drag?.at !== undefined) {
      this.#to = places;
      at = this.#place = 1;
    } else if (isOther || !same(before, places)) {
      // What is as written stands at the beginning.
      const other = isOther ? (isWritten ? endsSwapped(written) : written) : before;
      [this.#from, this.#to] = isWritten ? [places, other] : [other, places];
      this.#place = isWritten ? 0 : 1;
      leaps = !isOther;
      at = leaps ? 1 - this.#place : this.#place;
      if (isOther) this.#rebuild();
    }
    this.#order();
    this.#paint(at);
    if (leaps) this.#board.leap(this.#place);
  }

  /** Moves a word to the right by so many positions, or to the left where `by` is negative, if there is room. */
  shift(word: number, by: number): void {
    this.#move(word, this.#onward(by));
  }

  get #now(): Places {
    return Math.round(this.#place) === 0 ? this.#from : this.#to;
  }

  get #isFromRight(): boolean {
    return getComputedStyle(this.#list).direction === "rtl";
  }

  #onward(by: number): number {
    return this.#isFromRight ? -by : by;
  }

  #moved(at: number): void {
    this.#place = at;
    if (!same(this.#now, this.#view.places)) this.handlers?.move(this.#now);
  }

  /** Says where the word is now. */
  #move(word: number, by: number): void {
    const { places, words } = this.#view;
    const from = places.indexOf(word);
    const to = Math.min(places.length - 1, Math.max(0, from + by));
    if (from < 0 || from === to) return;
    this.#spoken.textContent = `${words[word]}, now at place ${to + 1} of ${places.length}`;
    const rest = places.filter((one) => one !== word);
    this.handlers?.move([...rest.slice(0, to), word, ...rest.slice(to)]);
  }

  #rebuild(): void {
    const { words } = this.#view;
    this.#items = words.map((word, index) =>
      h("li", { "data-word": index }, h("button", { type: "button", class: "order-word" }, word), h("small")),
    );
    this.#list.replaceChildren(...this.#items);
    this.#setFont(LARGEST);
    const widthOf = (item: Element): number => item.firstElementChild?.getBoundingClientRect().width ?? 0;
    this.#natural = this.#items.map((item) => 1 + Math.ceil(widthOf(item)));
  }

  #setFont(size: number): void {
    if (this.#list.parentElement !== null) this.#list.parentElement.style.fontSize = `${size}px`;
  }

  /** As they are read. */
  #order(): void {
    const focused = document.activeElement;
    this.#view.places.forEach((word, place) => {
      const [item, there] = [this.#items[word], this.#list.children[place] ?? null];
      if (item !== undefined && item !== there) this.#list.insertBefore(item, there);
    });
    if (focused instanceof HTMLElement && this.#list.contains(focused)) focused.focus({ preventScroll: true });
    this.#items.forEach((item, word) => {
      item.classList.toggle("asking", word === this.#view.asker);
      item.firstElementChild?.setAttribute("aria-pressed", String(word === this.#view.asker));
    });
  }

  #paint(at: number): void {
    this.#board.show((place, width) => this.#draw(place, width), at);
  }

  #draw(at: number, width: number): View {
    // Measured anew where they were built unseen.
    if (this.#natural.every((one) => one === 1)) {
      this.#rebuild();
      this.#order();
    }
    const sizes = this.#sizes(width);
    const spotsAt = (place: number): readonly Spot[] => this.#spots(place, sizes);
    const { word: held = -1, at: pointer } = this.#drag ?? {};
    const spots = pointer === undefined ? spotsAt(at) : this.#dragged(held, pointer, sizes);
    const view = this.#view.draw({ from: this.#from, to: this.#to, at, width, spots, spotsAt });
    this.#items.forEach((item, word) => {
      const { x = 0, y = 0, width: wide = 0, opacity = 1 } = spots[word] ?? {};
      Object.assign(item.style, { transform: `translate(${x}px, ${y}px)`, width: `${wide}px`, opacity });
      const figure = item.lastElementChild;
      if (figure !== null) figure.textContent = view.figures[word] ?? "";
    });
    return view;
  }

  /** All words fit into one line: their letters are as small as need be, and what is longer still is cut. */
  #sizes(board: number): Sizes {
    const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
    const gaps = Math.max(0, this.#natural.length - 1);
    const fit = board / (sum(this.#natural) + gaps * GAP);
    const font = Math.max(SMALLEST, LARGEST * Math.min(1, fit));
    const gap = (GAP * font) / LARGEST;
    const wanted = this.#natural.map((one) => Math.max(NARROWEST, (one * font) / LARGEST));
    const cut = Math.min(1, (board - gaps * gap) / sum(wanted));
    const widths = wanted.map((one) => one * cut);
    this.#setFont(font);
    return { board, gap, widths, start: (board - gaps * gap - sum(widths)) / 2 };
  }

  /** The left edge of each word, by word, as they stand in this order. */
  #edges(places: Places, { gap, widths, start }: Sizes): readonly number[] {
    const edges: number[] = [];
    let x = start;
    for (const word of places) {
      edges[word] = x;
      x += (widths[word] ?? 0) + gap;
    }
    return edges;
  }

  /** A word leaves the line before it moves, and comes back where it stays. */
  #spots(at: number, sizes: Sizes): readonly Spot[] {
    const lanes = lanesOf(this.#from, this.#to);
    const [before, after] = [this.#edges(this.#from, sizes), this.#edges(this.#to, sizes)];
    const [along, lift] = [during(at, 0.25, 0.75), during(at, 0, 0.3) - during(at, 0.7, 1)];
    return sizes.widths.map((wide, word) => {
      const lane = lanes.get(word) ?? "line";
      const x = this.#leftOf(mix(before[word] ?? 0, after[word] ?? 0, along), wide, sizes);
      const [y, opacity] = [LINE - LEVELS[lane] * lift * (TALL + 2), lane === "unseen" ? 1 - lift : 1];
      return { x, y, width: wide, opacity, leaves: lane !== "line" };
    });
  }

  /** Of what stands so far from where the line begins. */
  #leftOf(along: number, wide: number, { board }: Sizes): number {
    return this.#isFromRight ? board - along - wide : along;
  }

  /** The dragged word is above the line, and the others make room as it comes. */
  #dragged(held: number, pointer: DOMPoint, sizes: Sizes): readonly Spot[] {
    const rest = this.#view.places.filter((word) => word !== held);
    const edges = this.#edges(rest, sizes);
    const own = sizes.widths[held] ?? 0;
    const left = Math.min(sizes.board - own, Math.max(0, pointer.x));
    const middle = this.#leftOf(left, own, sizes) + own / 2;
    const hole = own + sizes.gap;
    const makesRoom = (word: number): number =>
      during((edges[word] ?? 0) + ((sizes.widths[word] ?? 0) + hole) / 2 - middle, -hole / 2, hole / 2);
    const place = rest.filter((word) => makesRoom(word) < 0.5).length;
    this.#wanted = [...rest.slice(0, place), held, ...rest.slice(place)];
    return sizes.widths.map((wide, word) => {
      const look = { width: wide, opacity: 1, leaves: false };
      if (word === held) return { ...look, x: left, y: Math.max(0, Math.min(pointer.y, LINE - TALL - 2)) };
      return { ...look, x: this.#leftOf((edges[word] ?? 0) + hole * makesRoom(word), wide, sizes), y: LINE };
    });
  }

  #wordOf(target: EventTarget | null): number {
    const item = target instanceof Element ? target.closest("li[data-word]") : null;
    return item instanceof HTMLElement ? Number(item.dataset["word"]) : -1;
  }

  #begin(event: PointerEvent): void {
    const word = this.#wordOf(event.target);
    if (word < 0 || event.button !== 0) return;
    const { left = 0, top = 0 } = this.#items[word]?.getBoundingClientRect() ?? {};
    const from = new DOMPoint(event.clientX, event.clientY);
    this.#drag = { word, from, grip: new DOMPoint(from.x - left, from.y - top) };
  }

  #dragTo(event: PointerEvent): void {
    const drag = this.#drag;
    if (drag === undefined) return;
    if (drag.at === undefined) {
      if (Math.hypot(event.clientX - drag.from.x, event.clientY - drag.from.y) < DRAG_FROM) return;
      [this.#from, this.#to] = [this.#now, this.#now];
    }
    const { left, top } = this.#list.getBoundingClientRect();
    drag.at = new DOMPoint(event.clientX - drag.grip.x - left, event.clientY - drag.grip.y - top);
    this.classList.add("dragging");
    this.#paint(1);
    if (!same(this.#wanted, this.#view.places)) this.handlers?.move(this.#wanted);
  }

  #end(): void {
    const { word = -1, at } = this.#drag ?? {};
    this.#drag = undefined;
    if (at === undefined) return;
    this.classList.remove("dragging");
    const item = this.#items[word];
    const from = item?.style.transform ?? "";
    this.#place = 1;
    this.#paint(1);
    if (!calm()) item?.animate([{ transform: from }, { transform: item.style.transform }], GLIDE);
  }

  #key(event: KeyboardEvent): void {
    const word = this.#wordOf(event.target);
    const way = word < 0 ? undefined : goalOf(event, { ArrowRight: 1, ArrowLeft: -1 });
    if (way === undefined) return;
    const by = this.#onward(way);
    const { places } = this.#view;
    const next = this.#items[places[places.indexOf(word) + by] ?? -1];
    if (event.shiftKey) this.#move(word, by);
    else next?.querySelector("button")?.focus();
  }
}

/** The lane of each word. The longest sequence of words that keep their order stays in the line; of two others that cross, one goes above and one below. */
function lanesOf(before: Places, after: Places): ReadonlyMap<number, Lane> {
  const places = new Map(before.map((word, place) => [word, place]));
  const from = after.map((word) => places.get(word) ?? 0);
  const lanes = new Map<number, Lane>(longestRun(from).map((to) => [after[to] ?? 0, "line"]));
  after.forEach((word, to) => {
    if (lanes.has(word)) return;
    const crossed = after.filter((_, other) => to < other !== (from[to] ?? 0) < (from[other] ?? 0));
    const taken = crossed.map((other) => lanes.get(other));
    lanes.set(word, (["above", "below"] as const).find((lane) => !taken.includes(lane)) ?? "unseen");
  });
  return lanes;
}

/** The indices of the longest ascending subsequence. */
function longestRun(numbers: Places): Places {
  const runs: Places[] = [];
  const longest = (some: readonly Places[]): Places =>
    some.reduce<Places>((best, run) => (run.length > best.length ? run : best), []);
  numbers.forEach((number, place) => {
    runs.push([...longest(runs.filter((run) => (numbers[run.at(-1) ?? 0] ?? 0) < number)), place]);
  });
  return longest(runs);
}

const same = (a: Places, b: Places): boolean => a.join() === b.join();

export function endsSwapped(places: Places): Places {
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined || places.length < 2) return places;
  return [last, ...places.slice(1, -1), first];
}

customElements.define("heed-order", HeedOrder);
