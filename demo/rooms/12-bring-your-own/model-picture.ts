// The model view: every head of every layer at a glance, in their places or from the most focused to the most spread out.

import type { Heed } from "heed";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { levelOf, type Shades, shadesOf } from "./map/shade.js";
import { rowsOf } from "./rows.js";
import { type Glance, glanceAt } from "./sampled.js";
import type { BringScene } from "./scene.js";
import type { Source } from "./source.js";
import type { BringState, BringStore, Pool } from "./state.js";

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
  readonly #picture: Picture;
  readonly #order;
  readonly #tiles = h("div", { class: "heads-tiles" });
  readonly #rows = h("tbody");
  readonly #said = h("p", { class: "small-label", role: "status" });
  readonly #stop = h("button", { type: "button", class: "link", hidden: true }, "Stop");
  #all: readonly Tile[] = [];
  #made: { readonly source: Source; readonly causal: boolean } | undefined;
  #scene: BringScene | undefined;
  #heed: Heed | undefined;
  #isOpen = false;
  #isSeen = false;
  #work: AbortController | undefined;

  constructor(store: BringStore) {
    this.#store = store;
    this.#order = choice<BringState["order"]>(
      "Heads",
      [
        { value: "place", text: "in their places" },
        { value: "entropy", text: "by entropy" },
      ],
      (order) => store.change({ order }),
    );
    this.#stop.addEventListener("click", () => {
      this.#work?.abort();
      this.#stop.hidden = true;
      this.#said.textContent = "Stopped.";
    });
    const head = ["head", "entropy, nats", "as if it listened to"];
    this.#picture = picture({
      name: "model",
      title: "Every head at a glance",
      body: [
        h("div", { class: "controls-options" }, this.#order.element),
        this.#tiles,
        h("div", { class: "race" }, this.#stop, this.#said),
        h(
          "details",
          { class: "as-table" },
          h("summary", {}, "As a table"),
          h(
            "div",
            {},
            h(
              "table",
              {},
              h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
              this.#rows,
            ),
          ),
        ),
      ],
      data: () => ({
        state: store.state,
        heads: this.#all.map(({ layer, head: index, glance }) => ({
          layer,
          head: index,
          entropy: glance?.entropy,
          sampledRows: glance?.sampled,
          rows: glance?.rows,
          cols: glance?.cols,
          max: Array.from(glance?.max ?? []),
          mean: Array.from(glance?.mean ?? []),
        })),
      }),
    });
    new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      this.#isSeen = true;
      this.#begin();
    }).observe(this.element);
    const recolour = (): void => this.#paintAll();
    new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  open(heed: Heed | undefined): void {
    this.#heed = heed;
    this.#isOpen = true;
    this.#begin();
  }

  show(scene: BringScene): void {
    const before = this.#scene;
    this.#scene = scene;
    const { source, at, state } = scene;
    this.#order.show(state.order);
    this.element.hidden = source.layers * source.heads === 1;
    if (before?.source !== source) this.#lay(source);
    for (const { layer, head, element } of this.#all) {
      element.setAttribute("aria-pressed", String(layer === at.layer && head === at.head));
    }
    this.#begin();
    if (before?.state.order !== state.order) this.#sort();
    if (before?.state.pool !== state.pool) this.#paintAll();
  }

  /** A place for each head, empty as yet. */
  #lay(source: Source): void {
    this.#made = undefined;
    this.#all = Array.from({ length: source.layers * source.heads }, (_, index) => {
      const [layer, head] = [Math.floor(index / source.heads), index % source.heads];
      const [canvas, said] = [h("canvas", { width: 1, height: 1 }), h("span", {}, NOT_YET)];
      const name = h("b");
      const full = `Layer ${layer + 1}, head ${head + 1} ${source.headName(layer, head)}`;
      const element = h(
        "button",
        { type: "button", class: "head-tile", title: source.headName(layer, head) },
        canvas,
        h("span", { class: "spoken" }, full),
        name,
        said,
      );
      element.addEventListener("click", () => this.#store.change({ layer, head }));
      const tile: Tile = { layer, head, element, canvas, name, said, glance: undefined };
      return tile;
    });
    this.#sort();
  }

  #begin(): void {
    const scene = this.#scene;
    if (scene === undefined || !this.#isOpen || !this.#isSeen || this.element.hidden) return;
    const { source, at } = scene;
    if (this.#made?.source === source && this.#made.causal === at.causal) return;
    this.#made = { source, causal: at.causal };
    void this.#run(source, at.causal);
  }

  async #run(source: Source, causal: boolean): Promise<void> {
    this.#work?.abort();
    const work = new AbortController();
    this.#work = work;
    this.#stop.hidden = false;
    const tiles = this.#all;
    let looked = 0;
    try {
      for (const [index, tile] of tiles.entries()) {
        this.#said.textContent = `Head ${index + 1} of ${tiles.length} …`;
        const rows = rowsOf(source, { layer: tile.layer, head: tile.head, causal }, this.#heed);
        try {
          tile.glance = await glanceAt(rows, work.signal);
        } finally {
          rows.dispose();
        }
        work.signal.throwIfAborted();
        looked = tile.glance.sampled;
        tile.said.textContent = manyOf(tile.glance);
        this.#paint(tile, shadesOf(this.#tiles), this.#store.state.pool);
      }
    } catch (error) {
      if (!work.signal.aborted) this.#said.textContent = brokenOff(error);
      return;
    }
    this.#stop.hidden = true;
    const all = looked === source.queries ? "all" : `${looked} of ${whole(source.queries)}`;
    this.#said.textContent = `From ${all} rows of each head.`;
    this.#sort();
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
        const figures =
          glance === undefined ? [NOT_YET, NOT_YET] : [exact(glance.entropy, 3), `${manyOf(glance)} keys`];
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, `${layer + 1} · ${head + 1}${name === "" ? "" : `, ${name}`}`),
          ...figures.map((text) => h("td", {}, text)),
        );
      }),
    );
    this.#picture.say(
      `${byEntropy ? "From the most focused to the most spread out" : "One small picture a head, one row a layer"}. Below each: e to its mean entropy, as if it listened to so many keys alike. Choose one to look into it.`,
    );
  }

  #paintAll(): void {
    const shades = shadesOf(this.#tiles);
    for (const tile of this.#all) this.#paint(tile, shades, this.#store.state.pool);
  }

  #paint({ glance, canvas }: Tile, shades: Shades, pool: Pool): void {
    if (glance === undefined || this.#scene === undefined) return;
    const { rows, cols } = glance;
    canvas.width = cols;
    canvas.height = rows;
    const image = new ImageData(cols, rows);
    const even = 1 / this.#scene.source.keys;
    const weights = pool === "max" ? glance.max : glance.mean;
    weights.forEach((weight, dot) => {
      shades.put(image.data, dot, levelOf(weight, even));
    });
    canvas.getContext("2d")?.putImageData(image, 0, 0);
  }
}

/** To so many keys alike would a query listen that is as spread out. */
function manyOf({ entropy }: Glance): string {
  const many = Math.exp(entropy);
  return exact(many, many < 100 ? 1 : 0);
}
