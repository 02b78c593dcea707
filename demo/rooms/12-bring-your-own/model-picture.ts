// The model view: every head of every layer at a glance, in their places or from the most focused to the most spread out.

import type { Engine } from "../../src/engine/engine.js";
import { choice } from "../../src/ui/choice.js";
import { button, h, onRecolour } from "../../src/ui/dom.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { behind, heads, line } from "../../src/ui/table.js";
import { levelOf, type Shades, shadesOf } from "./map/shade.js";
import { rowsOf } from "./rows.js";
import { type Glance, glanceAt } from "./sampled.js";
import type { BringScene } from "./scene.js";
import type { Source } from "./source.js";
import type { BringState, BringStore } from "./state.js";

/** Most heads beside each other where they are sorted. */
const ACROSS = 8;

/** Where a figure will be. */
const NOT_YET = "…";

interface Tile {
  readonly layer: number;
  readonly head: number;
  readonly element: HTMLButtonElement;
  readonly canvas: HTMLCanvasElement;
  readonly name: HTMLElement;
  readonly said: HTMLElement;
  glance: Glance | undefined;
}

export class ModelPicture {
  readonly #store: BringStore;
  readonly #engine: Engine;
  readonly #picture;
  readonly #order;
  readonly #tiles = h("div", { class: "heads-tiles" });
  readonly #rows = h("tbody");
  readonly #said = h("p", { class: "small-label", role: "status" });
  readonly #stop = button("Stop", () => this.#end("Stopped."), "link");
  #all: readonly Tile[] = [];
  #made: { readonly source: Source; readonly causal: boolean } | undefined;
  #scene: BringScene | undefined;
  #isSeen = false;
  #work: AbortController | undefined;

  constructor(store: BringStore, engine: Engine) {
    this.#store = store;
    this.#engine = engine;
    this.#order = choice<BringState["order"]>("Heads", { place: "in their places", entropy: "by entropy" }, (order) =>
      store.change({ order }),
    );
    this.#stop.hidden = true;
    const table = h("table", {}, heads("head", "entropy, nats", "keys it attends to"), this.#rows);
    this.#picture = picture({
      name: "model",
      title: "Every head at a glance",
      body: [
        h("div", { class: "controls-options" }, this.#order.element),
        this.#tiles,
        h("div", { class: "race" }, this.#stop, this.#said),
        behind(table),
      ],
      data: () => ({
        state: store.state,
        heads: this.#all.map(({ layer, head, glance }) => ({
          layer,
          head,
          entropy: glance?.entropy,
          sampledRows: glance?.sampled,
          rows: glance?.rows,
          cols: glance?.cols,
          max: Array.from(glance?.max ?? []),
        })),
      }),
    });
    new IntersectionObserver((entries) => {
      this.#isSeen ||= entries.some(({ isIntersecting }) => isIntersecting);
      this.begin();
    }).observe(this.element);
    onRecolour(() => {
      const shades = shadesOf(this.#tiles);
      for (const tile of this.#all) this.#paint(tile, shades);
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(scene: BringScene): void {
    const before = this.#scene;
    this.#scene = scene;
    const { source, at, state } = scene;
    this.#order.show(state.order);
    this.element.hidden = source.layers * source.heads === 1;
    if (before?.source !== source) this.#lay(source);
    for (const { layer, head, element } of this.#all) {
      element.ariaPressed = String(layer === at.layer && head === at.head);
    }
    this.begin();
    if (before?.state.order !== state.order) this.#sort();
  }

  /** A place for each head, empty as yet. */
  #lay(source: Source): void {
    this.#made = undefined;
    this.#all = Array.from({ length: source.layers * source.heads }, (_, index): Tile => {
      const [layer, head] = [Math.floor(index / source.heads), index % source.heads];
      const [canvas, name, said] = [h("canvas", { width: 1, height: 1 }), h("b"), h("span", {}, NOT_YET)];
      const full = `Layer ${layer + 1}, head ${head + 1} ${source.headName(layer, head)}`;
      const element = button("", () => this.#store.change({ layer, head }), "head-tile");
      element.title = source.headName(layer, head);
      element.append(canvas, h("span", { class: "spoken" }, full), name, said);
      return { layer, head, element, canvas, name, said, glance: undefined };
    });
    this.#sort();
  }

  /** Looks at all heads, as soon as somebody sees them and the engine is there. */
  begin(): void {
    if (this.#scene === undefined || !this.#engine.isSettled || !this.#isSeen || this.element.hidden) return;
    const { source, at } = this.#scene;
    if (this.#made?.source === source && this.#made.causal === at.causal) return;
    this.#made = { source, causal: at.causal };
    void this.#run(source, at.causal);
  }

  async #run(source: Source, causal: boolean): Promise<void> {
    this.#work?.abort();
    this.#work = new AbortController();
    const { signal } = this.#work;
    this.#stop.hidden = false;
    const tiles = this.#all;
    let looked = 0;
    try {
      for (const [index, tile] of tiles.entries()) {
        this.#said.textContent = `Head ${index + 1} of ${tiles.length} …`;
        const rows = rowsOf(source, { layer: tile.layer, head: tile.head, causal }, this.#engine.heed);
        tile.glance = await glanceAt(rows, signal).finally(() => rows.dispose());
        signal.throwIfAborted();
        looked = tile.glance.sampled;
        tile.said.textContent = manyOf(tile.glance);
        this.#paint(tile, shadesOf(this.#tiles));
      }
    } catch (error) {
      if (!signal.aborted) this.#said.textContent = brokenOff(error);
      return;
    }
    this.#end(`From ${looked === source.queries ? "all" : `${looked} of ${whole(source.queries)}`} rows of each head.`);
    this.#sort();
  }

  #end(said: string): void {
    this.#work?.abort();
    this.#stop.hidden = true;
    this.#said.textContent = said;
  }

  #sort(): void {
    const source = this.#scene?.source;
    const byEntropy = this.#store.state.order === "entropy";
    const known = (tile: Tile): number => tile.glance?.entropy ?? Number.POSITIVE_INFINITY;
    const sorted = byEntropy ? [...this.#all].sort((a, b) => known(a) - known(b)) : this.#all;
    const { layers, heads } = source ?? { layers: 1, heads: 1 };
    this.#tiles.classList.toggle("in-places", !byEntropy);
    this.#tiles.style.setProperty("--across", String(byEntropy ? Math.min(heads, ACROSS) : heads));
    this.#tiles.replaceChildren(
      ...sorted.flatMap(({ layer, head, element, name }) => {
        name.textContent = byEntropy && layers > 1 ? `${layer + 1} · ${head + 1}` : `${head + 1}`;
        // In their places one row is one layer.
        const isFirst = head === 0 && !byEntropy;
        return isFirst ? [h("span", { class: "heads-layer" }, `layer ${layer + 1}`), element] : [element];
      }),
    );
    this.#rows.replaceChildren(
      ...sorted.map(({ layer, head, glance }) => {
        const name = source?.headName(layer, head) ?? "";
        const figures = glance === undefined ? [NOT_YET, NOT_YET] : [exact(glance.entropy, 3), manyOf(glance)];
        return line(`${layer + 1} · ${head + 1}${name === "" ? "" : `, ${name}`}`, figures);
      }),
    );
    this.#picture.say(
      `${byEntropy ? "From the most focused to the most spread out" : "One small picture a head, one row a layer"}. The number says how many keys a head effectively attends to: e to its mean entropy. Choose a head to look into it.`,
    );
  }

  #paint({ glance, canvas }: Tile, shades: Shades): void {
    if (glance === undefined || this.#scene === undefined) return;
    const { rows, cols } = glance;
    canvas.width = cols;
    canvas.height = rows;
    const image = new ImageData(cols, rows);
    const even = 1 / this.#scene.source.keys;
    for (const [dot, weight] of glance.max.entries()) shades.put(image.data, dot, levelOf(weight, even));
    canvas.getContext("2d")?.putImageData(image, 0, 0);
  }
}

/** As many keys with equal weights would be as spread out. */
function manyOf({ entropy }: Glance): string {
  const many = Math.exp(entropy);
  return exact(many, many < 100 ? 1 : 0);
}
