// Queries that are looked at together: what they listen to in this head, added up, and what reaches them through all layers.

import type { Heed } from "heed";
import { h } from "../../src/ui/dom.js";
import { HeedChart, type Series } from "../../src/ui/heed-chart.js";
import { exact, magnitude } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { strongestOf } from "./explain.js";
import { type Rollout, rollout } from "./rollout.js";
import { type BringScene, rowAt } from "./scene.js";
import { type BringStore, MOST_CHOSEN } from "./state.js";

const BINS = 128;
const STRONGEST = 10;

export class TokensPicture {
  readonly #store: BringStore;
  readonly #picture: Picture;
  readonly #chart = new HeedChart();
  readonly #add = h("button", { type: "button", class: "button" });
  readonly #chips = h("div", { class: "chips", role: "group", "aria-label": "Queries that are added up" });
  readonly #rows = h("tbody");
  readonly #roll = h("button", { type: "button", class: "button" }, "Through all layers");
  readonly #said = h("p", { class: "small-label", role: "status" });
  #scene: BringScene | undefined;
  #heed: Heed | undefined;
  #sum = new Float64Array(0);
  #rolled: (Rollout & { readonly key: string }) | undefined;
  #running: AbortController | undefined;
  #key = "";

  constructor(store: BringStore) {
    this.#store = store;
    this.#add.addEventListener("click", () => {
      const { chosen } = store.state;
      const row = this.#scene?.row ?? 0;
      if (!chosen.includes(row)) store.change({ chosen: [...chosen, row].sort((a, b) => a - b) });
    });
    this.#roll.addEventListener("click", () => void this.#rollOut());
    this.#chart.choose = (bin) => {
      const scene = this.#scene;
      if (scene === undefined) return;
      const [from, to] = binOf(bin, this.#sum.length);
      const [best = from] = strongestOf(this.#sum.subarray(from, to), 1).map((key) => from + key);
      store.change({ col: best });
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
        h("div", { class: "race" }, this.#roll, this.#said),
        h(
          "div",
          { class: "table-frame", tabindex: 0, role: "region", "aria-label": "The keys with the most" },
          h(
            "table",
            { class: "plain-table" },
            h("caption", {}, "The keys with the most, in sums of shares"),
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
    this.#add.textContent = `Add query ${row + 1}`;
    this.#add.disabled = state.chosen.includes(row) || state.chosen.length >= MOST_CHOSEN;
    this.#roll.hidden = source.layers === 1 || source.queries !== source.keys;
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
      if (this.#running === undefined) this.#said.textContent = "";
    }
    this.#chips.replaceChildren(
      ...state.chosen.map((query) => {
        const chip = h(
          "button",
          { type: "button", class: "chip plain", "aria-label": `Leave out query ${query + 1}` },
          `${query + 1} ×`,
        );
        chip.addEventListener("click", () =>
          this.#store.change({ chosen: this.#store.state.chosen.filter((one) => one !== query) }),
        );
        return chip;
      }),
    );
    this.#draw(scene, asked);
  }

  /** Those that were chosen, else the one in the light. */
  #asked(): readonly number[] {
    const scene = this.#scene;
    if (scene === undefined) return [];
    const there = scene.state.chosen.filter((query) => query < scene.source.queries);
    return there.length > 0 ? there : [scene.row];
  }

  /** Whose rollout it is; the head in view does not matter. */
  #rollKey(): string {
    const scene = this.#scene;
    if (scene === undefined) return "";
    const { source, state, at } = scene;
    return [source.name, state.seed, state.brought, at.causal, ...this.#asked()].join();
  }

  get #fresh(): Rollout | undefined {
    return this.#rolled?.key === this.#rollKey() ? this.#rolled : undefined;
  }

  #draw(scene: BringScene, asked: readonly number[]): void {
    const { source, col } = scene;
    const rolled = this.#fresh;
    const bins = Math.min(BINS, source.keys);
    const binned = (shares: Float64Array): number[] =>
      Array.from({ length: bins }, (_, bin) =>
        shares.subarray(...binOf(bin, source.keys)).reduce((sum, share) => sum + share, 0),
      );
    const series: Series[] = [{ name: "in this head", values: binned(this.#sum), tone: "share" }];
    if (rolled !== undefined) series.push({ name: "through all layers", values: binned(rolled.shares), tone: "value" });
    this.#chart.show({
      label: "Sum of shares over the keys",
      x: {
        name: "key",
        values: Array.from({ length: bins }, (_, bin) => binOf(bin, source.keys)[0] + 1),
        log: false,
        ticks: ticksOf(source.keys),
      },
      y: { name: "share", most: Math.max(1e-9, ...series.flatMap(({ values }) => values)) },
      series,
      cursor: Math.min(bins - 1, Math.floor((col * bins) / source.keys)),
    });
    const best = strongestOf(rolled?.shares ?? this.#sum, STRONGEST);
    this.#rows.replaceChildren(
      ...best.map((key) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, `k${key + 1}`),
          h("td", {}, exact(this.#sum[key] ?? 0, 5)),
          h("td", {}, rolled === undefined ? "" : exact(rolled.shares[key] ?? 0, 5)),
        ),
      ),
    );
    const whose = asked.length === 1 ? `Query ${(asked[0] ?? 0) + 1}` : `${asked.length} queries`;
    const many = source.keys > bins ? ` Each point adds up about ${Math.round(source.keys / bins)} keys.` : "";
    this.#picture.say(
      `${whose}: where the shares go.${many} Choose a place on the curve, and its largest key is in the light.`,
    );
  }

  async #rollOut(): Promise<void> {
    if (this.#running !== undefined) {
      this.#running.abort();
      return;
    }
    const scene = this.#scene;
    if (scene === undefined) return;
    const running = new AbortController();
    this.#running = running;
    this.#roll.textContent = "Stop";
    const key = this.#rollKey();
    try {
      const found = await rollout(scene.source, this.#asked(), scene.at.causal, this.#heed, running.signal, (done) => {
        this.#said.textContent = `${Math.floor(done * 100)} %`;
      });
      this.#rolled = { ...found, key };
      const lost = found.lost === 0 ? "" : ` Rows that matter less were left out: ${magnitude(found.lost)} in all.`;
      this.#said.textContent = `Each layer passes on half by the mean of its heads, half as it was.${lost}`;
    } catch (error) {
      this.#said.textContent = running.signal.aborted
        ? "Stopped."
        : `It broke off: ${error instanceof Error ? error.message : String(error)}.`;
    }
    this.#running = undefined;
    this.#roll.textContent = "Through all layers";
    if (this.#scene !== undefined) this.#draw(this.#scene, this.#asked());
  }
}

function sumOf(scene: BringScene, asked: readonly number[]): Float64Array<ArrayBuffer> {
  const { source, at } = scene;
  const sum = new Float64Array(source.keys);
  const given = source.weights(at.layer, at.head);
  for (const query of asked) {
    const row = given?.subarray(query * source.keys, (query + 1) * source.keys) ?? rowAt(scene, query)?.shares;
    row?.forEach((share, key) => {
      sum[key] = (sum[key] ?? 0) + share;
    });
  }
  return sum;
}

function binOf(bin: number, keys: number): readonly [number, number] {
  const bins = Math.min(BINS, keys);
  return [Math.floor((bin * keys) / bins), Math.floor(((bin + 1) * keys) / bins)];
}

function ticksOf(keys: number): readonly number[] {
  return [0, 0.25, 0.5, 0.75, 1].map((part) => Math.max(1, Math.round(part * keys)));
}
