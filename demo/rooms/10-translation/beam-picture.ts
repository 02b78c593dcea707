// The tree of a beam search: a column for each character, and in it the branches that stay above those that are dropped. The decoder goes
// on from a node that is chosen.

import type { Cell } from "../../src/model/cell.js";
import { choice } from "../../src/ui/choice.js";
import { h, svg } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { brokenOff } from "../../src/ui/long-work.js";
import { exact, percent, small } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { presets } from "../../src/ui/presets.js";
import type { Teller } from "../../src/ui/teller.js";
import { type Branch, growBeam, WIDEST } from "./beam.js";
import type { Networks } from "./networks.js";
import { ANSWER } from "./reading.js";
import { RECORDED } from "./recorded.js";
import type { TranslationState, TranslationStore } from "./state.js";

/** The cells of the tree in the address. */
export const BEAM = "beam";

/** In the first, greedy drops the right day; the second has no day. */
const TRY = [{ name: "the 21st march 2010" }, { name: "march 2020" }];

/** Of a row, how far down the middle of its character is. */
const LEVEL = 0.38;

type Tree = readonly (readonly Branch[])[];

/** What was recorded, of which only the characters are known. */
const FIRST: Tree = Array.from(RECORDED.bahdanau.date, (_, at) => [
  { date: RECORDED.bahdanau.date.slice(0, at + 1), probabilities: [], total: Number.NaN, isKept: true },
]);

export class BeamPicture {
  readonly #picture: Picture;
  readonly #store: TranslationStore;
  readonly #networks: Networks;
  readonly #teller: Teller;
  readonly #width = choice<string>(
    "Branches that stay",
    Array.from({ length: WIDEST }, (_, at) => ({ value: `${at + 1}`, text: at === 0 ? "1: greedy" : `${at + 1}` })),
    (beam) => this.#store.change({ beam: Number(beam) }, "new"),
  );
  readonly #tree = h("div", { class: "beam", role: "radiogroup", "aria-label": "Go on from" });
  #grown = FIRST;
  #asked = "";

  constructor(store: TranslationStore, networks: Networks, teller: Teller) {
    this.#store = store;
    this.#networks = networks;
    this.#teller = teller;
    this.#picture = picture({
      name: BEAM,
      title: "Beam search",
      body: [this.#tree],
      controls: [
        this.#width.element,
        presets("Try", TRY, ({ name }) =>
          store.change({ text: name, written: ANSWER, network: "bahdanau", beam: 2, begun: "" }, "new"),
        ),
      ],
      data: () => this.#grown,
    });
  }

  get element(): HTMLElement {
    return this.#picture.element;
  }

  show(state: TranslationState): void {
    const { text, network, beam, begun } = state;
    this.#width.show(String(beam));
    const asked = [text, network, beam, begun].join();
    if (asked === this.#asked) return;
    this.#asked = asked;
    if (beam === 0 && text === RECORDED.text) {
      this.#grown = FIRST;
      this.#draw("");
      this.#picture.say(
        "The decoder gives every character a probability and takes the likeliest. Choose how many beginnings stay at each step, and see what it passes over.",
      );
    } else if (text.trim() !== "") {
      void this.#grow(asked, state);
    }
  }

  async #grow(asked: string, { text, network, beam, begun }: TranslationState): Promise<void> {
    try {
      const { follow } = await this.#networks.open(network);
      const grow = (width: number): Promise<Tree> => growBeam((all) => follow(text, all), { width, begun });
      const grown = await grow(Math.max(1, beam));
      const greedy = beam > 1 ? await grow(1) : grown;
      if (asked !== this.#asked) return;
      this.#grown = grown;
      this.#draw(begun);
      this.#picture.say(textOf(grown, greedy, begun));
      // Another node is under the pointer now.
      this.#teller.leave();
    } catch (error) {
      if (asked === this.#asked) this.#picture.say(brokenOff(error));
    }
  }

  #draw(begun: string): void {
    const hadFocus = this.#tree.contains(document.activeElement);
    const start = this.#node("", "↦", begun);
    const nodes = this.#grown.flatMap((column, at) =>
      column.map((branch, place) => {
        const node = this.#node(branch.date, branch.date.slice(-1), begun);
        node.classList.toggle("dropped", !branch.isKept);
        node.style.gridArea = `${place + 1} / ${at + 2}`;
        const chance = branch.probabilities.at(-1);
        if (chance !== undefined) node.append(h("small", {}, `${Math.round(100 * chance)}`));
        node.addEventListener("pointerenter", () => this.#teller.point({ name: BEAM, row: place, col: at }, false));
        node.addEventListener("pointerleave", () => this.#teller.leave());
        return node;
      }),
    );
    this.#tree.replaceChildren(edgesOf(this.#grown), start, ...nodes);
    if (hadFocus) this.#tree.querySelector<HTMLInputElement>("input:checked")?.focus();
  }

  /** In a date that is chosen, each beginning is its column's first. */
  #node(date: string, character: string, begun: string): HTMLElement {
    const name = date === "" ? "the start" : date;
    const input = h("input", { type: "radio", name: "beam-node", value: date, "aria-label": name });
    input.checked = date === begun;
    input.addEventListener("change", () => {
      this.#store.change({ begun: date, beam: Math.max(1, this.#store.state.beam) }, "new");
      if (date !== "") this.#teller.point({ name: BEAM, row: 0, col: date.length - 1 }, true);
    });
    return h("label", { class: "beam-node" }, input, h("span", {}, character));
  }

  explain({ row, col }: Cell): Explanation | undefined {
    const branch = this.#grown[col]?.[row];
    if (branch === undefined || branch.probabilities.length === 0) return undefined;
    return {
      subject: `“${branch.date}”`,
      sentence: "The probability of each character after those before it. A branch has their product.",
      head: ["", "probability"],
      terms: branch.probabilities.map((one, at) => ({ label: branch.date.charAt(at), figures: [exact(one)] })),
      last: `product = ${small(branch.total)}`,
      result: branch.total,
      lights: [],
    };
  }
}

/** From each node's beginning to it: as thick as the character is likely. */
function edgesOf(tree: Tree): SVGElement {
  const edges = tree.flatMap((column, at) =>
    column.map(({ date, probabilities, isKept }, place) => {
      const from = tree[at - 1]?.findIndex((before) => before.date === date.slice(0, -1)) ?? 0;
      return svg("path", {
        class: isKept ? "kept" : "",
        d: `M${at + 0.75} ${from + LEVEL}L${at + 1.25} ${place + LEVEL}`,
        "stroke-width": (1 + 5 * (probabilities.at(-1) ?? 0)).toFixed(2),
        "vector-effect": "non-scaling-stroke",
      });
    }),
  );
  const size = { viewBox: `0 0 ${ANSWER + 1} ${WIDEST}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", size, ...edges);
}

function textOf(tree: Tree, greedy: Tree, begun: string): string {
  const [best, other] = [tree, greedy].map((one) => one.at(-1)?.[0]);
  if (best === undefined || other === undefined) return "";
  const found = `“${best.date}” has ${percent(best.total)} in all`;
  if (begun !== "") return `From “${begun}” the decoder goes on: ${found}. Choose ↦ to begin anew.`;
  if (tree === greedy) {
    return `A beam of one is greedy: the likeliest character stays, and what is dropped never comes back. ${found}. Choose a node, and it goes on from there.`;
  }
  return other.date === best.date
    ? `${found}, and greedy ends there too. Choose a node, and it goes on from there.`
    : `${found}. Greedy ends at “${other.date}”, ${percent(other.total)}: it dropped the better branch too early. Choose a node, and it goes on from there.`;
}
