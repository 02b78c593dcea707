// <heed-flow>: a sentence with its attention weights as arcs over the line or, where that does not fit, between two columns of words.

import { across, arch, type Curve, type Point, path, pointOn } from "./curves.js";
import { adopt, calm, elementWith, h, svg } from "./dom.js";
import style from "./flow.css?raw";
import { formatShare } from "./numbers.js";
import theme from "./theme.css?raw";
import { at, checkWeights, headOf, type Weights } from "./weights.js";

/** What `<heed-flow>` shows: words, weights and who asks. */
export interface FlowView {
  readonly words: readonly string[];
  /** For every word its attention weights by key; undefined for a word without a query. */
  readonly shares: readonly (readonly number[] | undefined)[];
  readonly hidden: ReadonlySet<number>;
  /** The word whose weights are shown; -1: none. */
  readonly asker: number;
  /** Words with a dotted underline, whose meaning the page explains. */
  readonly noted?: (word: string) => boolean;
}

/** The detail of `select`, when a word was pressed, and of `inspect`, when the pointer or the keyboard reached it. */
export interface FlowSelection {
  readonly word: number;
}

/** The events of <heed-flow>. */
export interface FlowEvents {
  readonly select: CustomEvent<FlowSelection>;
  readonly inspect: CustomEvent<FlowSelection>;
  readonly leave: CustomEvent<null>;
}

const SMALLEST = 17;
const SIZES = [30, 27, 24, 21, 18.5, SMALLEST] as const;
const MOST_DOTS = 28;
/** Pixels around the picture, as in style.ts. */
const MARGIN = 14;
/** Milliseconds: how fast the shown weights approach new ones, and how long a dot travels. */
const SETTLE = 130;
const TRAVEL = 2400;

/** The element `<heed-flow>`: a sentence, with arcs to the word that attends. */
export class HeedFlow extends elementWith<FlowEvents>() {
  static readonly observedAttributes = ["head", "asker"];
  #weights: Weights | undefined;
  #words: readonly string[] = [];
  #view: FlowView = { words: [], shares: [], hidden: new Set(), asker: -1 };
  #still = false;
  #columns = false;
  #askers = h("div", { class: "flow-askers", role: "group", "aria-label": "Words that ask" });
  #answers = h("div", { class: "flow-answers", "aria-hidden": "true" });
  #faint = svg("g", { class: "flow-faint" });
  #bold = svg("g", { class: "flow-bold" });
  #dots = svg("g", { class: "flow-dots" });
  #svg = svg("svg", { "aria-hidden": "true" }, this.#faint, this.#bold, this.#dots);
  #buttons: HTMLButtonElement[] = [];
  #keys: Point[] = [];
  #queries: Point[] = [];
  #origin: Point = { x: 0, y: 0 };
  #shown: number[] = [];
  #frame = 0;
  #before = 0;
  #visible = true;
  #laidOutIn = 0;

  connectedCallback(): void {
    adopt(this, theme + style);
    // The first letter decides whether a sentence is laid out from the left or from the right.
    if (!this.hasAttribute("dir")) this.dir = "auto";
    if (this.#svg.parentNode === this) return;
    this.replaceChildren(this.#svg, this.#askers, this.#answers);
    for (let i = 0; i < MOST_DOTS; i++) this.#dots.append(svg("circle", { r: 2.6, opacity: 0 }));
    new ResizeObserver(() => {
      if (this.clientWidth !== this.#laidOutIn) this.#layOut();
    }).observe(this);
    new IntersectionObserver((entries) => {
      this.#visible = entries.some((entry) => entry.isIntersecting);
      this.#wake();
    }).observe(this);
    this.#askers.addEventListener("pointerover", (event) => {
      const word = event.target instanceof HTMLButtonElement ? this.#buttons.indexOf(event.target) : -1;
      if (word >= 0 && event.pointerType === "mouse") this.#send("inspect", { word });
    });
    this.#askers.addEventListener("pointerleave", () => this.#send("leave", undefined));
    if (document.fonts.status === "loading") document.fonts.ready.then(() => this.#layOut());
  }

  attributeChangedCallback(): void {
    this.#showWeights();
  }

  /** Weights of a sentence to its own words; with several heads, the attribute `head` chooses one. */
  get weights(): Weights | undefined {
    return this.#weights;
  }

  set weights(weights: Weights) {
    this.#weights = checkWeights("<heed-flow>.weights", weights);
    this.#showWeights();
  }

  get words(): readonly string[] {
    return this.#words;
  }

  set words(words: readonly string[]) {
    this.#words = words;
    this.#showWeights();
  }

  get head(): number {
    return Number(this.getAttribute("head") ?? 0);
  }

  set head(head: number) {
    this.setAttribute("head", String(head));
  }

  /** The word whose weights are drawn; -1: none. */
  get asker(): number {
    return Number(this.getAttribute("asker") ?? -1);
  }

  set asker(word: number) {
    this.setAttribute("asker", String(word));
  }

  #showWeights(): void {
    if (this.#weights === undefined) return;
    const matrix = headOf(this.#weights, this.head);
    // Where there are fewer queries than words, they are those of the last words.
    const first = matrix.cols - matrix.rows;
    const keys = Array.from({ length: matrix.cols }, (_, key) => key);
    this.show({
      words: keys.map((key) => this.#words[key] ?? String(key + 1)),
      shares: keys.map((word) => (word < first ? undefined : keys.map((key) => at(matrix, word - first, key)))),
      hidden: new Set(),
      asker: this.asker,
    });
  }

  /** With `weights` the element chooses the word itself; otherwise the page does, by `show`. */
  #choose(word: number): void {
    if (this.#weights !== undefined) this.asker = word;
    this.#send("select", { word });
  }

  #send(type: "inspect" | "select" | "leave", detail: FlowSelection | undefined): void {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /** Stops the travelling dots. Weights still approach new ones. */
  set still(still: boolean) {
    this.#still = still;
    this.#wake();
  }

  show(view: FlowView): void {
    const sameWords = view.words.join("\n") === this.#view.words.join("\n");
    const fresh = this.#view.words.length === 0;
    this.#view = view;
    if (!sameWords) this.#rebuild();
    this.#buttons.forEach((button, index) => {
      this.#mark(button, index);
    });
    if (!sameWords) this.#layOut();
    this.#drawFaint();
    if (calm() || (fresh && this.#view.asker >= 0)) this.#settleOrigin();
    this.#wake();
  }

  #rebuild(): void {
    const { words } = this.#view;
    this.#buttons = words.map((word, index) => {
      const button = h("button", { type: "button", class: "flow-word" }, word);
      button.addEventListener("click", () => this.#choose(index));
      button.addEventListener("focus", () => this.#send("inspect", { word: index }));
      return button;
    });
    this.#askers.replaceChildren(...this.#buttons);
    this.#answers.replaceChildren(
      ...words.map((word) => h("span", { class: "flow-word" }, h("bdi", {}, word), h("i"))),
    );
    this.#bold.replaceChildren(...words.map(() => svg("path", {})));
    this.#shown = words.map(() => 0);
  }

  #mark(button: HTMLButtonElement, index: number): void {
    const { words, asker, hidden, shares, noted } = this.#view;
    const share = shares[asker]?.[index] ?? 0;
    button.setAttribute("aria-pressed", String(index === asker));
    for (const word of [button, this.#answers.children[index]]) {
      if (!(word instanceof HTMLElement)) continue;
      word.classList.toggle("hidden-word", hidden.has(index));
      word.classList.toggle("noted", noted?.(words[index] ?? "") === true);
      word.classList.toggle("asking", index === asker && word === button);
      word.classList.toggle("mute", shares[index] === undefined && word === button);
      word.style.setProperty("--strength", share < 0.05 ? "0" : Math.min(1, share * 1.6).toFixed(3));
    }
    const figure = this.#answers.children[index]?.querySelector("i");
    if (figure) figure.textContent = asker >= 0 && share >= 0.005 ? formatShare(share) : "";
  }

  #layOut(): void {
    const room = this.clientWidth;
    this.#laidOutIn = room;
    if (room === 0 || this.#buttons.length === 0) {
      this.#svg.replaceChildren(this.#faint, this.#bold, this.#dots);
      return;
    }
    this.dataset["mode"] = "line";
    const fits = (size: number): boolean => {
      this.style.setProperty("--word-size", `${size}px`);
      return this.#askers.scrollWidth <= room;
    };
    // The smallest first: where it does not fit, one look is enough.
    this.#columns = !fits(SMALLEST) || !SIZES.some(fits);
    if (this.#columns) this.dataset["mode"] = "columns";
    const own = this.getBoundingClientRect();
    this.#svg.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${own.width + 2 * MARGIN} ${own.height + 2 * MARGIN}`);
    const boxes = this.#buttons.map((button) => button.getBoundingClientRect());
    if (this.#columns) {
      const answers = Array.from(this.#answers.children, (word) => word.getBoundingClientRect());
      const [start, end, gap] = isFromRight(this) ? (["right", "left", -4] as const) : (["left", "right", 4] as const);
      this.#queries = boxes.map((box) => ({ x: box[end] - own.left + gap, y: (box.top + box.bottom) / 2 - own.top }));
      this.#keys = answers.map((box) => ({ x: box[start] - own.left - gap, y: (box.top + box.bottom) / 2 - own.top }));
    } else {
      this.#queries = boxes.map((box) => ({ x: (box.left + box.right) / 2 - own.left, y: box.top - own.top - 3 }));
      this.#keys = this.#queries;
    }
    this.#settleOrigin();
    this.#drawFaint();
    this.#draw(performance.now());
  }

  #curve(from: Point, to: Point): Curve {
    return this.#columns ? across(from, to) : arch(from, to, Math.max(60, to.y - 8));
  }

  /** Draws the larger weights of all words, barely visible. */
  #drawFaint(): void {
    const lines: SVGPathElement[] = [];
    this.#view.shares.forEach((shares, query) => {
      const to = this.#queries[query];
      shares?.forEach((share, key) => {
        const from = this.#keys[key];
        if (share < 0.1 || to === undefined || from === undefined) return;
        lines.push(svg("path", { d: path(this.#curve(from, to)), "stroke-width": (0.5 + share * 2).toFixed(2) }));
      });
    });
    this.#faint.replaceChildren(...lines);
  }

  #settleOrigin(): void {
    const { asker, shares } = this.#view;
    this.#origin = this.#queries[asker] ?? this.#origin;
    if (calm()) this.#shown = this.#shown.map((_, key) => shares[asker]?.[key] ?? 0);
  }

  #wake(): void {
    if (!this.#visible || this.#frame !== 0) return;
    this.#before = performance.now();
    this.#frame = requestAnimationFrame((now) => this.#tick(now));
  }

  #tick(now: number): void {
    this.#frame = 0;
    this.classList.add("drawn");
    const moving = this.#settle(now - this.#before);
    this.#before = now;
    this.#draw(now);
    const travelling = !this.#still && !calm() && this.#view.asker >= 0;
    if (this.#visible && (moving || travelling)) this.#frame = requestAnimationFrame((next) => this.#tick(next));
  }

  /** Moves the shown weights towards the new ones; true while they differ. */
  #settle(elapsed: number): boolean {
    const { asker, shares } = this.#view;
    const pull = calm() ? 1 : 1 - Math.exp(-Math.min(elapsed, 100) / SETTLE);
    let rest = 0;
    this.#shown = this.#shown.map((shown, key) => {
      const goal = shares[asker]?.[key] ?? 0;
      rest = Math.max(rest, Math.abs(goal - shown));
      return shown + (goal - shown) * pull;
    });
    const goal = this.#queries[asker] ?? this.#origin;
    const { x, y } = this.#origin;
    rest = Math.max(rest, Math.hypot(goal.x - x, goal.y - y) / 100);
    this.#origin = { x: x + (goal.x - x) * pull, y: y + (goal.y - y) * pull };
    return rest > 0.001;
  }

  #draw(now: number): void {
    const lines = Array.from(this.#bold.children);
    const dots = Array.from(this.#dots.children);
    const { asker } = this.#view;
    let used = 0;
    this.#keys.forEach((from, key) => {
      const share = this.#shown[key] ?? 0;
      const curve = this.#curve(from, this.#origin);
      const line = lines[key];
      line?.setAttribute("d", path(curve));
      line?.setAttribute("stroke-width", (0.8 + share * 15).toFixed(2));
      line?.setAttribute("opacity", asker < 0 || share < 0.004 ? "0" : Math.min(0.92, 0.18 + share * 1.1).toFixed(3));
      if (this.#still || calm()) return;
      const count = Math.min(6, Math.round(share * 8 + 0.3));
      for (let i = 0; i < count && used < dots.length; i++, used++) {
        const t = (now / TRAVEL + i / count + key * 0.37) % 1;
        const { x, y } = pointOn(curve, t);
        const dot = dots[used];
        dot?.setAttribute("cx", x.toFixed(1));
        dot?.setAttribute("cy", y.toFixed(1));
        dot?.setAttribute("opacity", (0.95 * Math.sin(Math.PI * t) ** 0.6).toFixed(2));
      }
    });
    for (; used < dots.length; used++) dots[used]?.setAttribute("opacity", "0");
  }
}

function isFromRight(element: Element): boolean {
  return getComputedStyle(element).direction === "rtl";
}
