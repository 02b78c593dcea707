// The model view: every head of every layer at a glance, in their places or from the most focused to the most spread out.

import type { Engine } from "../../src/engine/engine.js";
import { boundChoice, LongWork } from "../../src/ui/controls.js";
import { behind, button, h, heads, line, onRecolour } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { offOf } from "./answer-picture.js";
import { shaderOf } from "./map/tile.js";
import { glanceAt, rowsOf } from "./rows.js";
import type { BringScene } from "./scene.js";
import type { BringStore } from "./state.js";

/** Most heads beside each other where they are sorted. */
const ACROSS = 8;
/** More layers are drawn small, without numbers. */
const FEW_LAYERS = 12;
/** Of heads that are switched off. */
const MOST_OFF = 32;

type Glance = Awaited<ReturnType<typeof glanceAt>>;

type HeadTile = ReturnType<typeof tileOf> & { glance?: Glance };

export function modelPicture(store: BringStore, engine: Engine, first: BringScene) {
  let scene = first;
  /** What the heads are looked at in. */
  let made: BringScene | undefined;
  let tiles: readonly HeadTile[] = [];
  let isSeen = false;
  const order = boundChoice(store, "order", "Heads", { place: "in their places", entropy: "by entropy" });
  const grid = h("div", { class: "heads-tiles" });
  const rows = h("tbody");
  const table = behind(h("table", {}, heads("head", "entropy, nats", "keys it attends to"), rows));
  const work: LongWork = new LongWork({
    name: "Look again",
    look: "link",
    run: async (signal, say) => {
      work.button.hidden = false;
      const { source, at } = scene;
      const all = tiles;
      let looked = 0;
      for (const [index, tile] of all.entries()) {
        say(`Head ${index + 1} of ${all.length} …`);
        const weights = rowsOf(source, { ...at, layer: tile.layer, head: tile.head }, engine.heed);
        tile.glance = await glanceAt(weights, signal).finally(() => weights.dispose());
        signal.throwIfAborted();
        looked = tile.glance.sampledRows;
        tile.said.textContent = manyOf(tile.glance);
        paint([tile]);
      }
      sort();
      work.button.hidden = true;
      return `From ${looked === source.queries ? "all" : `${looked} of ${whole(source.queries)}`} rows of each head.`;
    },
  });
  work.button.hidden = true;
  const { element, say } = picture({
    name: "model",
    title: "Every head at a glance",
    body: [h("div", { class: "controls-options" }, order), grid, work.line(), table],
    data: () => ({
      state: store.state,
      heads: tiles.map(({ layer, head, glance }) => ({ layer, head, ...glance, max: Array.from(glance?.max ?? []) })),
    }),
  });

  const paint = (some: readonly HeadTile[]): void => {
    const shader = shaderOf(grid);
    for (const { glance, canvas } of some) {
      if (glance === undefined) continue;
      Object.assign(canvas, { width: glance.cols, height: glance.rows });
      canvas.getContext("2d")?.putImageData(shader(glance.max, glance.cols, 1 / scene.source.keys), 0, 0);
    }
  };
  /** Looks at all heads, as soon as somebody sees them and the engine is there. */
  const begin = (): void => {
    const { source, at } = scene;
    if (!engine.isSettled || !isSeen || element.hidden) return;
    if (made?.source === source && made.at.causal === at.causal) return;
    made = scene;
    work.begin();
  };
  const sort = (): void => {
    const { source, state } = scene;
    const byEntropy = state.order === "entropy";
    const known = ({ glance }: HeadTile): number => glance?.entropy ?? Number.POSITIVE_INFINITY;
    const sorted = byEntropy ? [...tiles].sort((a, b) => known(a) - known(b)) : tiles;
    grid.classList.toggle("in-places", !byEntropy);
    grid.classList.toggle("many", !byEntropy && source.layers > FEW_LAYERS);
    grid.style.setProperty("--across", String(byEntropy ? Math.min(source.heads, ACROSS) : source.heads));
    grid.replaceChildren();
    rows.replaceChildren();
    for (const { layer, head, element: tile, name, glance } of sorted) {
      name.textContent = byEntropy && source.layers > 1 ? `${layer + 1} · ${head + 1}` : `${head + 1}`;
      // In their places one row is one layer.
      if (head === 0 && !byEntropy) grid.append(h("span", { class: "heads-layer small-label" }, `layer ${layer + 1}`));
      grid.append(tile);
      const figures = glance === undefined ? ["…", "…"] : [exact(glance.entropy, 3), manyOf(glance)];
      rows.append(line(`${layer + 1} · ${head + 1}${tile.title === "" ? "" : `, ${tile.title}`}`, figures));
    }
    const how = byEntropy
      ? "From the most focused to the most spread out"
      : "One small picture a head, one row a layer";
    const number = "The number says how many keys a head effectively attends to: e to its mean entropy.";
    const off = source.model === undefined ? "" : " Press it again to switch it off or on.";
    say(`${how}. ${number} Choose a head to look into it.${off}`);
  };

  const isChosen = (layer: number, head: number): boolean => scene.at.layer === layer && scene.at.head === head;
  const toggle = (index: number): void => {
    if (scene.source.model === undefined) return;
    const off = offOf(scene);
    const others = off.filter((one) => one !== index);
    store.change({
      off: others.length < off.length ? others : [...off, index].sort((a, b) => a - b).slice(0, MOST_OFF),
    });
  };
  new IntersectionObserver((entries) => {
    isSeen ||= entries.some(({ isIntersecting }) => isIntersecting);
    begin();
  }).observe(element);
  onRecolour(() => paint(tiles));
  return {
    element,
    begin,
    show: (next: BringScene): void => {
      const { source, at, state } = next;
      const isOther = tiles.length === 0 || scene.source !== source;
      const isSorted = !isOther && scene.state.order === state.order;
      scene = next;
      element.hidden = source.layers * source.heads === 1;
      if (isOther) {
        made = undefined;
        tiles = Array.from({ length: source.layers * source.heads }, (_, index) => {
          const [layer, head] = [Math.floor(index / source.heads), index % source.heads];
          const choose = (): void => (isChosen(layer, head) ? toggle(index) : store.change({ layer, head }));
          return tileOf(layer, head, source.headName?.(layer, head) ?? "", choose);
        });
      }
      const off = offOf(next);
      tiles.forEach(({ layer, head, element: tile, state: said }, index) => {
        tile.ariaPressed = String(layer === at.layer && head === at.head);
        const isOff = off.includes(index);
        tile.classList.toggle("off", isOff);
        said.textContent = isOff ? ", off" : "";
      });
      begin();
      if (!isSorted) sort();
    },
  };
}

/** A place for a head, empty as yet. */
function tileOf(layer: number, head: number, title: string, choose: () => void) {
  const [canvas, name, said] = [h("canvas", { width: 1, height: 1 }), h("b"), h("span", { class: "head-many" }, "…")];
  const state = h("span");
  const element = Object.assign(button("", choose, "head-tile small-label"), { title });
  element.append(
    canvas,
    h("span", { class: "spoken" }, `Layer ${layer + 1}, head ${head + 1} ${title}`, state),
    name,
    said,
  );
  return { layer, head, element, canvas, name, said, state };
}

/** As many keys with equal weights would be as spread out. */
function manyOf({ entropy }: Glance): string {
  const many = Math.exp(entropy);
  return exact(many, many < 100 ? 1 : 0);
}
