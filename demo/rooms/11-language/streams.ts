// The picture of the idea: under every word its stream, down through all layers. Attention and the MLP read it and add to it, each as wide
// as it is large; below each layer stands what would be said if the model stopped there.

import type { LayerReading, Reading } from "../../src/language/inside.js";
import { saidOf } from "../../src/language/said.js";
import { candidates, HEADS, LAYERS } from "../../src/language/words.js";
import { type Attributes, button, h, refill, svg, tableFrame } from "../../src/ui/dom.js";
import type { LanguageScene, ShownWord } from "./scene.js";
import { headName } from "./state.js";

/** Pixels of the widest stream, and of all the weight that a head has. */
const [STREAM_WIDTH, WEIGHT_WIDTH] = [9, 8];
/** Weights below it have no line: of the word that is asked, and of the others. */
const [LEAST, LEAST_OF_OTHERS] = [0.04, 0.25];
const SAID = 3;
const HEAD_TONES = ["tone-query", "tone-key", "tone-value", "tone-share"];

/** Of a head, counted through all layers, which is switched off or on. */
type Toggle = (head: number) => void;

/** `index`: among the words that are read; -1 for others. */
type Place = Readonly<Record<"x" | "index", number>>;

export function streamsOf(hide: (at: number) => void, toggle: Toggle) {
  const drawing = svg("svg", { "aria-hidden": "true" });
  const words = h("div", {});
  const layers = Array.from({ length: LAYERS }, (_, layer) => layerRows(layer, toggle));
  const embedding = h("p", { class: "lens" });
  const legend = h("legend", { class: "spoken" }, "Which word is hidden?");
  const chosen = h("fieldset", { class: "stream-words" }, legend, words);
  const stack = h("div", { class: "streams" }, drawing, chosen, embedding, ...layers.map(({ element }) => element));
  let scene: LanguageScene | undefined;

  /** Whoever walks through them with the keyboard goes on from there. */
  function showWords(shown: readonly ShownWord[]): void {
    const focused = words.querySelector<HTMLInputElement>("input:focus")?.value;
    words.replaceChildren(...shown.map(wordOf));
    if (focused !== undefined) words.querySelector<HTMLInputElement>(`input[value="${focused}"]`)?.focus();
  }

  function wordOf({ text, kind, at }: ShownWord): HTMLElement {
    if (at < 0) return h("span", { class: `stream-word ${kind}` }, h("span", {}, text));
    const input = h("input", { type: "radio", name: "hidden-word", value: at });
    input.checked = kind === "hidden";
    input.addEventListener("change", () => hide(at));
    return h("label", { class: `stream-word ${kind}` }, input, h("span", {}, text));
  }

  function draw(): void {
    const { offsetWidth: width, offsetHeight: bottom } = stack;
    if (scene === undefined || width === 0) return;
    drawing.setAttribute("viewBox", `0 0 ${width} ${bottom}`);
    const places = Array.from(words.children, (word, at): Place => {
      const x = word instanceof HTMLElement ? word.offsetLeft + word.offsetWidth / 2 : 0;
      return { x, index: scene?.columns.indexOf(at) ?? -1 };
    }).filter(({ index }) => index >= 0);
    const bands = layers.map(({ attention, mlpLine, mlp, lens }) => {
      return { top: attention.offsetTop, middle: mlpLine.offsetTop, mlp: mlp.offsetTop, bottom: lens.offsetTop };
    });
    const ends = [embedding.offsetTop - 4, bottom] as const;
    refill(drawing, ...(scene.reading ? drawn(scene, scene.reading, { places, bands, ends }) : []));
  }

  new ResizeObserver(draw).observe(stack);
  return {
    element: tableFrame("Words and their streams", stack),
    show: (next: LanguageScene): void => {
      scene = next;
      const { reading, state } = next;
      showWords(next.words);
      embedding.replaceChildren(...said("At the start:", reading?.lens[0]));
      const isMasked = state.kind === "masked";
      for (const [layer, { heads, names, lens }] of layers.entries()) {
        for (const [part, name] of names.entries()) {
          const adds = `${part === 0 ? "attention" : "MLP"}, add`;
          name.textContent = `Layer ${layer + 1}: ${isMasked ? `${adds}, normalize` : `normalize, ${adds}`}`;
        }
        for (const [head, button] of heads.entries()) {
          button.setAttribute("aria-pressed", String(!state.off.includes(layer * HEADS + head)));
        }
        lens.replaceChildren(...said(`After layer ${layer + 1}:`, reading?.lens[layer + 1]));
      }
      draw();
    },
  };
}

function layerRows(layer: number, toggle: Toggle) {
  const heads = Array.from({ length: HEADS }, (_, head) => {
    const made = button(`${head + 1}`, () => toggle(layer * HEADS + head), `head ${HEAD_TONES[head]}`);
    made.setAttribute("aria-label", headName(layer * HEADS + head));
    return made;
  });
  const attention = h("div", { class: "attention-band" });
  const [name, mlpName] = [h("span", { class: "band-name" }), h("span", { class: "band-name" })];
  const mlp = h("div", { class: "mlp-band" });
  const lens = h("p", { class: "lens" });
  const [line, mlpLine] = [
    h("div", { class: "block-heads" }, name, ...heads),
    h("div", { class: "block-heads" }, mlpName),
  ];
  const element = h("div", {}, line, attention, mlpLine, mlp, lens);
  return { element, heads, names: [name, mlpName], attention, mlpLine, mlp, lens };
}

function said(begins: string, logits: ArrayLike<number> | undefined): readonly (Node | string)[] {
  return logits === undefined ? [] : [h("span", {}, begins), " ", ...saidOf(candidates(logits).slice(0, SAID))];
}

type Rows = LayerReading["weights"][number];
/** Attention from `top` to `middle`, the MLP from `mlp` to `bottom`. */
type Band = Readonly<Record<"top" | "middle" | "mlp" | "bottom", number>>;
/** `ends`: of the streams, at the top and at the bottom. */
type Laid = Readonly<{ places: readonly Place[]; bands: readonly Band[]; ends: readonly [number, number] }>;

function drawn(scene: LanguageScene, { embedding, layers }: Reading, { places, bands, ends: [top, bottom] }: Laid) {
  const later = layers.flatMap(({ attention, mlp }) => [...attention.stream, ...mlp.stream]);
  const widest = Math.max(...embedding, ...later);
  const pitch = Math.min(...places.slice(1).map(({ x }, at) => x - (places[at]?.x ?? 0)), 40);
  const elements: SVGElement[] = [];
  const line = (stroke: string, d: string, size: number, look: Attributes = {}): void => {
    elements.push(svg("path", { d, fill: "none", stroke, "stroke-width": size.toFixed(2), ...look }));
  };
  for (const { x, index } of places) {
    const colour = index === scene.asked ? "var(--accent)" : "var(--line)";
    const size = (lengths: readonly number[]): number => 1 + (STREAM_WIDTH * (lengths[index] ?? 0)) / widest;
    let [from, before] = [top, embedding];
    for (const [layer, { attention, mlp }] of layers.entries()) {
      const { middle = 0, bottom: end = 0 } = bands[layer] ?? {};
      line(colour, `M${x} ${from}V${middle}`, size(before));
      line(colour, `M${x} ${middle}V${end}`, size(attention.stream));
      [from, before] = [end, mlp.stream];
    }
    line(colour, `M${x} ${from}V${bottom}`, size(before));
  }
  for (const [layer, found] of layers.entries()) {
    const band = bands[layer];
    if (band === undefined) continue;
    for (const [head, rows] of found.weights.entries()) {
      const look = { class: `arc quiet ${HEAD_TONES[head]}`, opacity: 0.3 };
      line("currentcolor", quiet(rows, scene.asked, places, band), 1.2, look);
    }
    const to = places.find(({ index }) => index === scene.asked)?.x ?? 0;
    for (const [head, rows] of found.weights.entries()) {
      if (scene.state.off.includes(layer * HEADS + head)) continue;
      const look = { class: `arc ${HEAD_TONES[head]}`, opacity: 0.75 };
      for (const { x, index } of places) {
        const weight = rows[scene.asked]?.[index] ?? 0;
        if (weight >= LEAST) line("currentcolor", arc(x, to, band, 2 * head - 3), WEIGHT_WIDTH * weight, look);
      }
    }
    for (const { x, index } of places) {
      const out = Math.min(11, pitch / 2 - 3);
      const [y0, y1] = [band.mlp + 2, band.bottom - 6];
      const size = (STREAM_WIDTH * (found.mlp.added[index] ?? 0)) / widest;
      const around = `M${x} ${y0}C${x + 1.4 * out} ${y0} ${x + 1.4 * out} ${y1} ${x} ${y1}`;
      line("var(--below)", around, Math.max(0.6, size), { class: "added", opacity: 0.7 });
      for (const y of [band.middle - 3, y1]) {
        elements.push(svg("circle", { cx: x, cy: y, r: 4, fill: "var(--paper)", stroke: "var(--soft-ink)" }));
        line("var(--soft-ink)", `M${x - 2.2} ${y}h4.4M${x} ${y - 2.2}v4.4`, 1);
      }
    }
  }
  return elements;
}

/** From the stream that is read, at the top, to the one that is added to. */
function arc(from: number, to: number, { top, middle }: Band, shift = 0): string {
  const [y0, y1] = [top, middle - 7];
  const half = (y0 + y1) / 2;
  return `M${from + shift} ${y0}C${from + shift} ${half} ${to + shift} ${half} ${to + shift} ${y1}`;
}

/** Of one head and all words but the one that is asked: one path. */
function quiet(rows: Rows, asked: number, places: readonly Place[], band: Band): string {
  return places
    .flatMap((to) => places.map((from) => ({ from, to, weight: rows[to.index]?.[from.index] ?? 0 })))
    .filter(({ from, to, weight }) => to.index !== asked && from !== to && weight >= LEAST_OF_OTHERS)
    .map(({ from, to }) => arc(from.x, to.x, band))
    .join("");
}
