// All heads of a reading as small pictures, one row a layer, under the names of what is found in them.

import { type HeadsSelection, HeedHeads } from "heed/viz";
import { button, h, on, oneStop, onRecolour } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { atOnce, inPieces } from "../../src/ui/pieces.js";
import { type Found, findOf } from "./detectors.js";
import { type Head, headsOf, type Reading, spelt } from "./reading.js";

export function strip(choose: (head: Head) => void) {
  const names = h("div", { class: "presets", role: "group", "aria-label": "What heads do" });
  const legend = "A picture is a head: a row for each word, and in it a square for each word that it looks at.";
  const element = h("div", { class: "strip-and-names" }, names, h("p", { class: "small-label" }, legend));
  let reading: Reading | undefined;
  let layers: readonly HeedHeads[] = [];
  let found = new Map<string, Found | undefined>();
  let chips = new Map<string, HTMLButtonElement>();
  /** The name whose heads are lit; empty: all. */
  let lit = "";

  function build(sizes: readonly number[]): HTMLElement {
    layers = sizes.map((_, layer) => {
      const heads = new HeedHeads();
      heads.setAttribute("label", `Layer ${layer + 1}`);
      on<HeadsSelection>(heads, "select", ({ head }) => choose({ layer: layer + 1, head: head + 1 }));
      return heads;
    });
    const lines = layers.map((heads, layer) => [h("span", { class: "small-label" }, `layer ${layer + 1}`), heads]);
    const group = { class: "strip", role: "group", "aria-label": "All heads, one row a layer" };
    const rows = h("div", group, ...lines.flat());
    rows.style.setProperty("--across", String(sizes[0] ?? 1));
    element.querySelector(".strip")?.remove();
    element.append(rows);
    return rows;
  }

  /** A layer at a time: pictures of all heads take longer than a frame. */
  function* draw(next: Reading): Generator<undefined> {
    for (const [layer, weights] of next.layers.entries()) {
      const heads = layers[layer];
      if (heads !== undefined) heads.weights = weights;
      for (const head of headsOf(next)) if (head.layer === layer + 1) caption(head);
      yield;
    }
    listNames();
  }

  const buttons = (): HTMLButtonElement[] => layers.flatMap((heads) => Array.from(heads.querySelectorAll("button")));

  function caption(head: Head): void {
    const tile = layers[head.layer - 1]?.querySelectorAll("button")[head.head - 1];
    const { name, weight } = nameOf(head) ?? {};
    const said = name === undefined ? "" : `${name} ${percent(weight ?? 0)}`;
    tile?.setAttribute("aria-label", `Layer ${head.layer}, head ${head.head}${said === "" ? "" : `: ${said}`}`);
    if (tile !== undefined) tile.title = said;
    tile?.querySelector("span")?.replaceChildren(said);
  }

  function listNames(): void {
    const all = [...found.values()].flatMap((one) => (one === undefined ? [] : [one.name]));
    const counts = new Map(all.map((name) => [name, all.filter((one) => one === name).length]));
    if (!counts.has(lit)) lit = "";
    chips = new Map(
      Array.from(counts, ([name, count]) => [name, button(`${name} · ${count}`, press(name), "chip plain")]),
    );
    const label = h("span", { class: "small-label" }, "What heads do, and how many");
    names.replaceChildren(...(chips.size === 0 ? [] : [label, ...chips.values()]));
    light();
  }

  /** Lights its heads, and shows the one that does it most. */
  const press = (name: string) => (): void => {
    lit = lit === name ? "" : name;
    light();
    const heads =
      reading === undefined || lit === "" ? [] : headsOf(reading).filter((head) => nameOf(head)?.name === lit);
    const [best] = heads.sort((a, b) => (nameOf(b)?.weight ?? 0) - (nameOf(a)?.weight ?? 0));
    if (best !== undefined) choose(best);
  };
  const nameOf = (head: Head): Found | undefined => found.get(spelt(head));

  function light(): void {
    for (const [name, chip] of chips) chip.ariaPressed = String(lit === name);
    const shown = [...found.values()];
    for (const [at, tile] of buttons().entries()) tile.classList.toggle("pale", lit !== "" && shown[at]?.name !== lit);
  }

  onRecolour(() => {
    if (reading !== undefined) atOnce(draw(reading));
  });
  return {
    element,
    nameOf,
    show: (next: Reading, { layer, head }: Head): void => {
      if (next !== reading) {
        const sizes = next.layers.map(({ shape: [heads = 0] }) => heads);
        const isOther = sizes.join() !== reading?.layers.map(({ shape: [heads] }) => heads).join();
        reading = next;
        found = new Map(headsOf(next).map((head) => [spelt(head), findOf(next, head)]));
        if (isOther) {
          const rows = build(sizes);
          atOnce(draw(next));
          oneStop(rows, buttons(), sizes[0]);
        } else void inPieces(draw(next), () => reading !== next);
      }
      layers.forEach((heads, at) => {
        const selected = at === layer - 1 ? head - 1 : -1;
        if (heads.selected !== selected) heads.selected = selected;
      });
    },
  };
}
