// The model view: every head of every layer at a glance, one row a layer.

import { type HeadsSelection, HeedHeads } from "heed/viz";
import type { Engine } from "../../src/engine/engine.js";
import { LongWork } from "../../src/ui/controls.js";
import { h, on, oneStop, onRecolour } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { drawn } from "../../src/ui/pieces.js";
import { offOf } from "./answer-picture.js";
import { levelOf } from "./dots.js";
import { glanceAt, rowsOf } from "./rows.js";
import type { BringScene } from "./scene.js";
import type { BringStore } from "./state.js";

/** More layers are drawn small, without numbers. */
const FEW_LAYERS = 12;
type Glance = Awaited<ReturnType<typeof glanceAt>>;

export function modelPicture(store: BringStore, engine: Engine, first: BringScene) {
  let scene = first;
  /** What the heads are looked at in. */
  let made: BringScene | undefined;
  let layers: readonly { readonly heads: HeedHeads; readonly glances: Glance[] }[] = [];
  let isSeen = false;
  const frame = h("div");
  const work: LongWork = new LongWork({
    name: "Look again",
    look: "link",
    run: async (signal, say) => {
      work.button.hidden = false;
      const { source, at } = scene;
      let looked = 0;
      for (const [layer, { glances }] of layers.entries()) {
        for (let head = 0; head < source.heads; head++) {
          say(`Head ${layer * source.heads + head + 1} of ${source.layers * source.heads} …`);
          const weights = rowsOf(source, { ...at, layer, head }, engine.heed);
          const glance = await glanceAt(weights, signal).finally(() => weights.dispose());
          signal.throwIfAborted();
          glances[head] = glance;
          looked = glance.sampledRows;
        }
        paint(layer);
        await drawn();
      }
      work.button.hidden = true;
      return `From ${looked === source.queries ? "all" : `${looked} of ${whole(source.queries)}`} rows of each head.`;
    },
  });
  work.button.hidden = true;
  const { element, say } = picture({
    name: "model",
    title: "Every head at a glance",
    body: [frame, work.line()],
    data: () => ({
      state: store.state,
      heads: layers.flatMap(({ glances }, layer) => glances.map((glance, head) => ({ layer, head, ...glance }))),
    }),
  });

  function build({ source }: BringScene): void {
    layers = Array.from({ length: source.layers }, (_, layer) => {
      const heads = new HeedHeads();
      heads.setAttribute("label", `Layer ${layer + 1}`);
      heads.weights = { data: new Float32Array(source.heads), shape: [source.heads, 1, 1] };
      on<HeadsSelection>(heads, "select", ({ head }) => choose(layer, head));
      return { heads, glances: [] };
    });
    const name = (layer: number): HTMLElement => h("span", { class: "heads-layer small-label" }, `layer ${layer + 1}`);
    const all = { class: "heads-rows", role: "group", "aria-label": "All heads, one row a layer" };
    const grid = h("div", all, ...layers.flatMap(({ heads }, layer) => [name(layer), heads]));
    frame.replaceChildren(grid);
    grid.style.setProperty("--across", String(source.heads));
    grid.classList.toggle("many", source.layers > FEW_LAYERS);
    oneStop(grid, Array.from(grid.querySelectorAll("button")), source.heads);
  }

  /** The element shades by the root of a weight. */
  function paint(layer: number): void {
    const { heads, glances } = layers[layer] ?? {};
    const [one] = glances ?? [];
    if (heads === undefined || one === undefined || glances?.length !== scene.source.heads) return;
    const levels = glances.flatMap(({ max }) => Array.from(max, (most) => levelOf(most, 1 / scene.source.keys) ** 2));
    heads.weights = { data: levels, shape: [glances.length, one.rows, one.cols] };
    caption();
  }

  function caption(): void {
    const { source, at } = scene;
    const off = offOf(scene);
    for (const [layer, { heads, glances }] of layers.entries()) {
      heads.selected = layer === at.layer ? at.head : -1;
      for (const [head, tile] of heads.querySelectorAll("button").entries()) {
        const isOff = off.includes(layer * source.heads + head);
        const name = source.headName?.(layer, head) ?? "";
        const glance = glances[head];
        const many = glance ? manyOf(glance) : "…";
        tile.title = name;
        tile.ariaLabel = `Layer ${layer + 1}, head ${head + 1} ${many} keys${name && `: ${name}`}${isOff ? ", off" : ""}`;
        tile.classList.toggle("off", isOff);
        tile.querySelector("span")?.replaceChildren(h("b", {}, `${head + 1}`), " ", many);
      }
    }
  }

  /** The one that is chosen is switched off or on. */
  function choose(layer: number, head: number): void {
    const { at, source } = scene;
    const [index, off] = [layer * source.heads + head, offOf(scene)];
    const others = off.filter((one) => one !== index);
    if (layer !== at.layer || head !== at.head) store.change({ layer, head });
    else if (source.model !== undefined) store.change({ off: others.length < off.length ? others : [...off, index] });
  }

  /** Looks at all heads, as soon as somebody sees them and the engine is there. */
  const begin = (): void => {
    const { source, at } = scene;
    if (!engine.isSettled || !isSeen || element.hidden) return;
    if (made?.source === source && made.at.causal === at.causal) return;
    made = scene;
    work.begin();
  };
  new IntersectionObserver((entries) => {
    isSeen ||= entries.some(({ isIntersecting }) => isIntersecting);
    begin();
  }).observe(element);
  onRecolour(() => {
    for (const layer of layers.keys()) paint(layer);
  });
  return {
    element,
    begin,
    show: (next: BringScene): void => {
      const isOther = layers.length === 0 || scene.source !== next.source;
      scene = next;
      const { source } = next;
      element.hidden = source.layers * source.heads === 1;
      if (isOther) {
        made = undefined;
        build(next);
      }
      const number = "The number says how many keys a head effectively attends to: e to its mean entropy.";
      const off = source.model === undefined ? "" : " Press it again to switch it off or on.";
      say(`One small picture a head, one row a layer. ${number} Choose a head to look into it.${off}`);
      caption();
      begin();
    },
  };
}

/** As many keys with equal weights would be as spread out. */
function manyOf({ entropy }: Glance): string {
  const many = Math.exp(entropy);
  return exact(many, many < 100 ? 1 : 0);
}
