// Queries that are looked at together: what they listen to in this head, added up, and what reaches them through all layers.

import type { Heed } from "heed";
import { h } from "../../src/ui/dom.js";
import { HeedChart, type Series } from "../../src/ui/heed-chart.js";
import { LongWork } from "../../src/ui/long-work.js";
import { exact, magnitude } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { axisOf, binAt, binOf, binsOf } from "./bins.js";
import { lineOf, strongestOf } from "./explain.js";
import { type Rollout, rollout } from "./rollout.js";
import { askedOf, type BringScene } from "./scene.js";
import { type BringStore, MOST_CHOSEN } from "./state.js";
import { nameOf } from "./words.js";

const STRONGEST = 10;
/** On the line and in the table. */
const DECIMALS = 5;

export class TokensPicture {
  readonly #store: BringStore;
  readonly #shown: () => Promise<void>;
  readonly #picture: Picture;
  readonly #chart = new HeedChart();
  readonly #add = h("button", { type: "button", class: "button" });
  readonly #chips = h("div", { class: "chips", role: "group", "aria-label": "Queries that are added up" });
  readonly #rows = h("tbody");
  readonly #roll = new LongWork({ name: "Through all layers", run: (signal, say) => this.#rollOut(signal, say) });
  #scene: BringScene | undefined;
  #heed: Heed | undefined;
  #sum = new Float64Array(0);
  #rolled: (Rollout & { readonly key: string }) | undefined;
  #key = "";
  #rollKey = "";

  /** `tell`: of a key, what its sum is made of; `shown`: when what was brought last is in all pictures. */
  constructor(store: BringStore, tell: (key: number) => void, shown: () => Promise<void>) {
    this.#store = store;
    this.#shown = shown;
    this.#add.addEventListener("click", () => {
      const { chosen } = store.state;
      const row = this.#scene?.row ?? 0;
      if (!chosen.includes(row)) store.change({ chosen: [...chosen, row].sort((a, b) => a - b) });
    });
    this.#chart.choose = (bin) => {
      const scene = this.#scene;
      if (scene === undefined) return;
      const [from, to] = binAt(bin, this.#sum.length);
      const [best = from] = strongestOf(this.#sum.subarray(from, to), 1).map((key) => from + key);
      store.change({ col: best });
      tell(best);
    };
    const head = ["", "in this head", "through all layers"].map((name) =>
      name === "" ? h("td") : h("th", { scope: "col" }, name),
    );
    this.#picture = picture({
      name: "tokens",
      title: "Several queries together",
      body: [
        h("div", { class: "controls-hide" }, this.#add, this.#chips),
        this.#chart,
        this.#roll.line(),
        h(
          "div",
          { class: "table-frame", tabindex: 0, role: "region", "aria-label": "The keys with the most" },
          h(
            "table",
            { class: "plain-table" },
            h("caption", {}, "The keys with the most"),
            h("thead", {}, h("tr", {}, ...head)),
            this.#rows,
          ),
        ),
      ],
      data: () => ({
        state: store.state,
        queries: this.#asked(),
        sum: Array.from(this.#sum),
        rollout: Array.from(this.#fresh?.shares ?? []),
      }),
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  open(heed: Heed | undefined): void {
    this.#heed = heed;
  }

  show(scene: BringScene): void {
    this.#scene = scene;
    const { source, state, row } = scene;
    this.#add.textContent = `Add ${nameOf(source, "q", row, "query ")}`;
    this.#add.disabled = state.chosen.includes(row) || state.chosen.length >= MOST_CHOSEN;
    this.#roll.button.hidden = source.layers === 1 || source.queries !== source.keys;
    const asked = this.#asked();
    const key = [
      scene.at.layer,
      scene.at.head,
      scene.at.causal,
      source.name,
      state.seed,
      state.brought,
      ...asked,
    ].join();
    if (key !== this.#key) {
      this.#key = key;
      this.#sum = sumOf(scene, asked);
    }
    // The head in view does not matter to it.
    const rollKey = [source.name, state.seed, state.brought, scene.at.causal, ...asked].join();
    if (rollKey !== this.#rollKey) {
      this.#rollKey = rollKey;
      this.#roll.renew();
    }
    this.#chips.replaceChildren(
      ...state.chosen.map((query) => {
        const chip = h(
          "button",
          { type: "button", class: "chip plain", "aria-label": `Leave out ${nameOf(source, "q", query, "query ")}` },
          `${nameOf(source, "q", query, "")} ×`,
        );
        chip.addEventListener("click", () =>
          this.#store.change({ chosen: this.#store.state.chosen.filter((one) => one !== query) }),
        );
        return chip;
      }),
    );
    this.#draw(scene, asked);
  }

  #asked(): readonly number[] {
    return this.#scene === undefined ? [] : askedOf(this.#scene);
  }

  get #fresh(): Rollout | undefined {
    return this.#rolled?.key === this.#rollKey ? this.#rolled : undefined;
  }

  #draw(scene: BringScene, asked: readonly number[]): void {
    const { source, col } = scene;
    const rolled = this.#fresh;
    const bins = binsOf(source.keys);
    const binned = (shares: Float64Array): number[] =>
      Array.from({ length: bins }, (_, bin) =>
        shares.subarray(...binAt(bin, source.keys)).reduce((sum, share) => sum + share, 0),
      );
    const series: Series[] = [{ name: "in this head", values: binned(this.#sum), tone: "share" }];
    if (rolled !== undefined) series.push({ name: "through all layers", values: binned(rolled.shares), tone: "value" });
    this.#chart.show({
      label: "Sum of shares over the keys",
      x: axisOf("key", "keys", source.keys, "added up"),
      y: { name: "share", most: Math.max(1e-9, ...series.flatMap(({ values }) => values)), decimals: DECIMALS },
      series,
      cursor: binOf(col, source.keys),
    });
    const best = strongestOf(rolled?.shares ?? this.#sum, STRONGEST);
    this.#rows.replaceChildren(
      ...best.map((key) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, nameOf(source, "k", key)),
          h("td", {}, exact(this.#sum[key] ?? 0, DECIMALS)),
          h("td", {}, rolled === undefined ? "" : exact(rolled.shares[key] ?? 0, DECIMALS)),
        ),
      ),
    );
    const whose = asked.length === 1 ? nameOf(source, "q", asked[0] ?? 0, "Query ") : `${asked.length} queries`;
    const many = source.keys > bins ? ` Each point adds up about ${Math.round(source.keys / bins)} keys.` : "";
    this.#picture.say(
      `${whose}: where the shares go.${many} Choose a place on the curve, and its largest key is in the light.`,
    );
  }

  async #rollOut(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    await this.#shown();
    signal.throwIfAborted();
    const scene = this.#scene;
    if (scene === undefined) return "";
    const key = this.#rollKey;
    const found = await rollout(scene.source, this.#asked(), scene.at.causal, this.#heed, signal, (done) =>
      say(`${Math.floor(done * 100)} %`),
    );
    this.#rolled = { ...found, key };
    this.#draw(this.#scene ?? scene, this.#asked());
    const lost = found.lost === 0 ? "" : ` Rows that matter less were left out: ${magnitude(found.lost)} in all.`;
    return `Each layer passes on half by the mean of its heads, half as it was.${lost}`;
  }
}

function sumOf(scene: BringScene, asked: readonly number[]): Float64Array<ArrayBuffer> {
  const sum = new Float64Array(scene.source.keys);
  for (const query of asked) {
    const line = lineOf(scene, query);
    for (let key = 0; key < sum.length; key++) sum[key] = (sum[key] ?? 0) + (line[key] ?? 0);
  }
  return sum;
}
