// A line of words that can be dragged, or moved with the keyboard. Where a word stands is a function of the scrubber's place or of the
// pointer's: words that cross travel over the line, one above the other.

import { Board, during, mix, type View } from "./board.js";
import { calm, goalOf, h } from "./dom.js";

/** The left upper corner and the width of a word, in pixels of the board. */
export interface Spot extends Readonly<Record<"x" | "y" | "width" | "opacity", number>> {
  /** Of a word that leaves the line: its left edges before and after, and how high it travels. */
  readonly way?: Readonly<Record<"from" | "to" | "top", number>>;
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
/** Of the lanes; there is no room for a third one above the line, so that further words are not seen on their way. */
const LEVELS = { line: 0, above: 1, below: 2, unseen: 1 } as const;
type Lane = keyof typeof LEVELS;

export function orderBoard(handlers: OrderHandlers) {
  const list = h("ol", { class: "order-words", dir: "auto" });
  const spoken = h("p", { class: "spoken", "aria-live": "polite" });
  const board = new Board({ steps: ["before", "after"], moved: settle, picked: handlers.pick });
  const ruler = h("canvas").getContext("2d");
  let view: OrderView | undefined;
  let items: readonly HTMLLIElement[] = [];
  let [before, after]: [Places, Places] = [[], []];
  /** Where the board is, or is going. */
  let place = 0;
  let drag: { readonly word: number; readonly from: DOMPoint; readonly grip: DOMPoint; at?: DOMPoint } | undefined;

  board.element.firstElementChild?.append(list);
  list.addEventListener("pointerdown", grab);
  // On the window: the pointer leaves the word that it drags.
  addEventListener("pointermove", dragTo);
  for (const end of ["pointerup", "pointercancel"] as const) addEventListener(end, drop);
  list.addEventListener("click", ({ target }) => {
    const word = wordOf(target);
    if (word >= 0) handlers.choose(word);
  });
  list.addEventListener("keydown", press);

  const now = (): Places => (Math.round(place) === 0 ? before : after);
  const isFromRight = (): boolean => getComputedStyle(list).direction === "rtl";
  const onward = (by: number): number => (isFromRight() ? -by : by);

  function show(next: OrderView): void {
    const { words, places } = next;
    const isOther = view?.words.join("\n") !== words.join("\n");
    view = next;
    if (isOther) {
      items = words.map((word, index) =>
        h("li", { "data-word": index }, h("button", { type: "button", class: "order-word" }, word), h("small")),
      );
      list.replaceChildren(...items);
    }
    const written = words.map((_, word) => word);
    const [known, isWritten] = [now(), same(written, places)];
    let at = board.at;
    const leaps = drag?.at === undefined && !isOther && !same(known, places);
    if (drag?.at !== undefined) {
      after = places;
      at = place = 1;
    } else if (isOther || leaps) {
      // What is as written stands at the beginning.
      const other = isOther ? (isWritten ? endsSwapped(written) : written) : known;
      [before, after] = isWritten ? [places, other] : [other, places];
      place = isWritten ? 0 : 1;
      at = leaps ? 1 - place : place;
    }
    arrange(next);
    paint(at);
    if (leaps) board.leap(place);
  }

  function settle(at: number): void {
    place = at;
    if (view !== undefined && !same(now(), view.places)) handlers.move(now());
  }

  /** Moves a word to the right by so many positions, or to the left where `by` is negative, if there is room; and says where it is. */
  function shift(word: number, by: number): void {
    const { places = [], words = [] } = view ?? {};
    const from = places.indexOf(word);
    const to = Math.min(places.length - 1, Math.max(0, from + onward(by)));
    if (from < 0 || from === to) return;
    spoken.textContent = `${words[word]}, now at place ${to + 1} of ${places.length}`;
    const rest = places.filter((one) => one !== word);
    handlers.move([...rest.slice(0, to), word, ...rest.slice(to)]);
  }

  /** As they are read. */
  function arrange({ places, asker }: OrderView): void {
    const focused = document.activeElement;
    places.forEach((word, place) => {
      const [item, there] = [items[word], list.children[place] ?? null];
      if (item !== undefined && item !== there) list.insertBefore(item, there);
    });
    if (focused instanceof HTMLElement && list.contains(focused)) focused.focus({ preventScroll: true });
    items.forEach((item, word) => {
      item.classList.toggle("asking", word === asker);
      item.firstElementChild?.setAttribute("aria-pressed", String(word === asker));
    });
  }

  function paint(at: number): void {
    board.show((place, width) => {
      const sizes = sizesOn(width);
      const spots = drag?.at === undefined ? spotsAt(place, sizes) : draggedTo(drag.word, drag.at, sizes).spots;
      const drawn = view?.draw({ from: before, to: after, at: place, width, spots });
      items.forEach((item, word) => {
        const { x = 0, y = 0, width: wide = 0, opacity = 1 } = spots[word] ?? {};
        Object.assign(item.style, { transform: `translate(${x}px, ${y}px)`, width: `${wide}px`, opacity });
        if (item.lastElementChild !== null) item.lastElementChild.textContent = drawn?.figures[word] ?? "";
      });
      return drawn ?? { height: 0, shapes: [], said: "" };
    }, at);
  }

  /** All words fit into one line: their letters are as small as need be, and what is longer still is cut. */
  function sizesOn(board: number): Sizes {
    const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0);
    const { fontFamily } = getComputedStyle(items[0]?.firstElementChild ?? list);
    if (ruler !== null) ruler.font = `${LARGEST}px ${fontFamily}`;
    const natural = view?.words.map((word) => 1 + Math.ceil(ruler?.measureText(word).width ?? NARROWEST)) ?? [];
    const gaps = Math.max(0, natural.length - 1);
    const fit = board / (sum(natural) + gaps * GAP);
    const font = Math.max(SMALLEST, LARGEST * Math.min(1, fit));
    const gap = (GAP * font) / LARGEST;
    const wanted = natural.map((one) => Math.max(NARROWEST, (one * font) / LARGEST));
    const cut = Math.min(1, (board - gaps * gap) / sum(wanted));
    const widths = wanted.map((one) => one * cut);
    list.style.fontSize = `${font}px`;
    return { board, gap, widths, start: (board - gaps * gap - sum(widths)) / 2 };
  }

  /** Of what stands so far from where the line begins. */
  const leftOf = (along: number, wide: number, { board }: Sizes): number =>
    isFromRight() ? board - along - wide : along;

  /** A word leaves the line before it moves, and comes back where it stays. */
  function spotsAt(at: number, sizes: Sizes): readonly Spot[] {
    const lanes = lanesOf(before, after);
    const [begin, end] = [edgesOf(before, sizes), edgesOf(after, sizes)];
    const [along, lift] = [during(at, 0.25, 0.75), during(at, 0, 0.3) - during(at, 0.7, 1)];
    return sizes.widths.map((width, word) => {
      const lane = lanes.get(word) ?? "line";
      const [from = 0, to = 0] = [begin, end].map((edges) => leftOf(edges[word] ?? 0, width, sizes));
      const high = LEVELS[lane] * (TALL + 2);
      const spot = { x: mix(from, to, along), y: LINE - high * lift, width, opacity: lane === "unseen" ? 1 - lift : 1 };
      return lane === "line" ? spot : { ...spot, way: { from, to, top: LINE - high } };
    });
  }

  /** The dragged word is above the line, and the others make room as it comes; and the order that this makes. */
  function draggedTo(held: number, pointer: DOMPoint, sizes: Sizes) {
    const rest = view?.places.filter((word) => word !== held) ?? [];
    const edges = edgesOf(rest, sizes);
    const own = sizes.widths[held] ?? 0;
    const left = Math.min(sizes.board - own, Math.max(0, pointer.x));
    const middle = leftOf(left, own, sizes) + own / 2;
    const hole = own + sizes.gap;
    const makesRoom = (word: number): number =>
      during((edges[word] ?? 0) + ((sizes.widths[word] ?? 0) + hole) / 2 - middle, -hole / 2, hole / 2);
    const count = rest.filter((word) => makesRoom(word) < 0.5).length;
    const spots = sizes.widths.map((width, word): Spot => {
      if (word === held) return { x: left, y: Math.max(0, Math.min(pointer.y, LINE - TALL - 2)), width, opacity: 1 };
      const x = leftOf((edges[word] ?? 0) + hole * makesRoom(word), width, sizes);
      return { x, y: LINE, width, opacity: 1 };
    });
    return { spots, places: [...rest.slice(0, count), held, ...rest.slice(count)] };
  }

  function grab(event: PointerEvent): void {
    const word = wordOf(event.target);
    if (word < 0 || event.button !== 0) return;
    const { left = 0, top = 0 } = items[word]?.getBoundingClientRect() ?? {};
    const from = new DOMPoint(event.clientX, event.clientY);
    drag = { word, from, grip: new DOMPoint(from.x - left, from.y - top) };
  }

  function dragTo(event: PointerEvent): void {
    if (drag === undefined) return;
    if (drag.at === undefined) {
      if (Math.hypot(event.clientX - drag.from.x, event.clientY - drag.from.y) < DRAG_FROM) return;
      before = after = now();
    }
    const { left, top } = list.getBoundingClientRect();
    drag.at = new DOMPoint(event.clientX - drag.grip.x - left, event.clientY - drag.grip.y - top);
    list.classList.add("dragging");
    paint(1);
    const { places } = draggedTo(drag.word, drag.at, sizesOn(board.element.clientWidth));
    if (!same(places, view?.places ?? [])) handlers.move(places);
  }

  function drop(): void {
    const { word = -1, at } = drag ?? {};
    drag = undefined;
    if (at === undefined) return;
    list.classList.remove("dragging");
    const item = items[word];
    const from = item?.style.transform ?? "";
    place = 1;
    paint(1);
    if (!calm()) item?.animate([{ transform: from }, { transform: item.style.transform }], GLIDE);
  }

  function press(event: KeyboardEvent): void {
    const word = wordOf(event.target);
    const way = word < 0 ? undefined : goalOf(event, { ArrowRight: 1, ArrowLeft: -1 });
    if (way === undefined || view === undefined) return;
    const next = items[view.places[view.places.indexOf(word) + onward(way)] ?? -1];
    if (event.shiftKey) shift(word, way);
    else next?.querySelector("button")?.focus();
  }

  return { element: h("div", { class: "order-board" }, board.element, spoken), show, shift };
}

function wordOf(target: EventTarget | null): number {
  const item = target instanceof Element ? target.closest("li[data-word]") : null;
  return item instanceof HTMLElement ? Number(item.dataset["word"]) : -1;
}

/** The left edge of each word, by word, as they stand in this order. */
function edgesOf(places: Places, { gap, widths, start }: Sizes): readonly number[] {
  const edges: number[] = [];
  let x = start;
  for (const word of places) {
    edges[word] = x;
    x += (widths[word] ?? 0) + gap;
  }
  return edges;
}

/** The lane of each word. The longest sequence of words that keep their order stays in the line; the first other goes above, the second below. */
function lanesOf(before: Places, after: Places): ReadonlyMap<number, Lane> {
  const stay = longestRun(after.map((word) => before.indexOf(word))).map((to) => after[to]);
  const leave = after.filter((word) => !stay.includes(word));
  return new Map(leave.map((word, index) => [word, (["above", "below"] as const)[index] ?? "unseen"]));
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
