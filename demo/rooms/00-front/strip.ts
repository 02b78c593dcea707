// All heads of a reading as small pictures, one row a layer, under the names of what is found in them.

import { type HeadsSelection, HeedHeads } from "heed/viz";
import { button, h, on, oneStop, onRecolour } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import { type Found, findOf } from "./detectors.js";
import { type Head, headsOf, type Reading, spelt } from "./reading.js";

export function strip(choose: (head: Head) => void) {
  const names = h("div", { class: "presets", role: "group", "aria-label": "What heads do" });
  const rows = h("div", { class: "strip", role: "group", "aria-label": "All heads, one row a layer" });
  let reading: Reading | undefined;
  let layers: readonly HeedHeads[] = [];
  let found = new Map<string, Found | undefined>();
  /** The name whose heads are lit; empty: all. */
  let lit = "";

  function draw(next: Reading): void {
    layers = next.layers.map((weights, layer) => {
      const heads = new HeedHeads();
      heads.setAttribute("label", `Layer ${layer + 1}`);
      heads.selected = -1;
      on<HeadsSelection>(heads, "select", ({ head }) => choose({ layer: layer + 1, head: head + 1 }));
      heads.weights = weights;
      return heads;
    });
    const lines = layers.map((heads, layer) => [h("span", { class: "small-label" }, `layer ${layer + 1}`), heads]);
    rows.replaceChildren(...lines.flat());
    rows.style.setProperty("--across", String(next.layers[0]?.shape[0] ?? 1));
    found = new Map(headsOf(next).map((head) => [spelt(head), findOf(next, head)]));
    for (const head of headsOf(next)) caption(head);
    oneStop(rows, buttons(), next.layers[0]?.shape[0]);
  }

  const buttons = (): HTMLButtonElement[] => Array.from(rows.querySelectorAll("button"));

  function caption(head: Head): void {
    const tile = layers[head.layer - 1]?.querySelectorAll("button")[head.head - 1];
    const { name, weight } = found.get(spelt(head)) ?? {};
    const said = name === undefined ? "" : `${name} ${percent(weight ?? 0)}`;
    tile?.setAttribute("aria-label", `Layer ${head.layer}, head ${head.head}${said === "" ? "" : `: ${said}`}`);
    if (tile !== undefined) tile.title = said;
    tile?.querySelector("span")?.replaceChildren(said);
  }

  function light(): void {
    const all = [...found.values()].flatMap((one) => (one === undefined ? [] : [one.name]));
    const counts = new Map(all.map((name) => [name, all.filter((one) => one === name).length]));
    if (!counts.has(lit)) lit = "";
    const chips = Array.from(counts, ([name, count]) => {
      const press = (): void => {
        lit = lit === name ? "" : name;
        light();
        names.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
      };
      const chip = button(`${name} · ${count}`, press, "chip plain");
      chip.ariaPressed = String(lit === name);
      return chip;
    });
    names.replaceChildren(h("span", { class: "small-label" }, "What they do"), ...chips);
    const shown = [...found.values()];
    for (const [at, tile] of buttons().entries()) tile.classList.toggle("pale", lit !== "" && shown[at]?.name !== lit);
  }

  onRecolour(() => {
    layers.forEach((heads, layer) => {
      const weights = reading?.layers[layer];
      if (weights !== undefined) heads.weights = weights;
    });
    for (const head of reading === undefined ? [] : headsOf(reading)) caption(head);
  });
  return {
    element: h("div", { class: "strip-and-names" }, names, rows),
    nameOf: (head: Head): Found | undefined => found.get(spelt(head)),
    show: (next: Reading, { layer, head }: Head): void => {
      if (next !== reading) {
        reading = next;
        draw(next);
        light();
      }
      layers.forEach((heads, at) => {
        const selected = at === layer - 1 ? head - 1 : -1;
        if (heads.selected !== selected) heads.selected = selected;
      });
    },
  };
}
