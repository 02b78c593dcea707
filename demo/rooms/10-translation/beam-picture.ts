// Beam search, in which of all characters that may follow the likeliest few beginnings stay; and its tree: a column for each character, and in
// it the branches that stay above those that are dropped. The decoder goes on from a node that is chosen.

import type { Cell } from "../../src/model/store.js";
import { brokenOff, choice, presets } from "../../src/ui/controls.js";
import { h, svg } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import { numbered } from "../../src/ui/named-matrices.js";
import { exact, percent, small } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import type { Teller } from "../../src/ui/teller.js";
import type { Networks } from "./networks.js";
import { ANSWER, RECORDED } from "./reading.js";
import { type TranslationState, type TranslationStore, WIDEST } from "./state.js";

/** The cells of the tree in the address. */
export const BEAM = "beam";

/** In the first, greedy drops the right day; the second has no day. */
const TRY = [{ name: "the 21st march 2010" }, { name: "march 2020" }];

const NOTE = "Below each character stands its probability in percent, after those that lead to it.";
/** Of a row, how far down the middle of its character is. */
const LEVEL = 0.38;

export interface Following {
  readonly character: string;
  readonly probability: number;
}

interface Branch {
  /** The date so far. */
  readonly date: string;
  /** Of each of its characters, after those before it. */
  readonly probabilities: readonly number[];
  /** Of all of them: the product. */
  readonly total: number;
  readonly isKept: boolean;
}

/** The probability of each character after each of these beginnings of a date. */
type Follow = (beginnings: readonly string[]) => Promise<readonly (readonly Following[])[]>;
type Tree = readonly (readonly Branch[])[];

/** What was recorded, of which only the characters are known. */
const FIRST: Tree = Array.from(RECORDED.bahdanau.date, (_, at) => [
  { date: RECORDED.bahdanau.date.slice(0, at + 1), probabilities: [], total: Number.NaN, isKept: true },
]);

export function beamPicture(store: TranslationStore, networks: Networks, teller: Teller) {
  let tree = FIRST;
  let asked = "";
  const widths = numbered("", WIDEST).map((value) => ({ value, text: value === "1" ? "1: greedy" : value }));
  const width = choice("Branches that stay", widths, (beam) => store.change({ beam: Number(beam) }, "new"));
  const board = h("div", { class: "beam", role: "radiogroup", "aria-label": "Go on from" });
  const { element, say } = picture({
    name: BEAM,
    title: "Beam search",
    body: [h("p", { class: "small-label" }, NOTE), board],
    controls: [
      width.element,
      presets("Try", TRY, ({ name }) =>
        store.change({ text: name, written: ANSWER, network: "bahdanau", beam: 2, begun: "" }, "new"),
      ),
    ],
    data: () => tree,
  });

  function show(state: TranslationState): void {
    const { text, network, beam, begun } = state;
    width.show(String(beam));
    const wanted = [text, network, beam, begun].join();
    if (wanted === asked) return;
    asked = wanted;
    if (beam === 0 && text === RECORDED.text) {
      tree = FIRST;
      draw("");
      say(
        "The decoder gives every character a probability and takes the likeliest. Choose how many beginnings stay at each step, and see which branches it drops.",
      );
    } else if (text.trim() !== "") {
      void grow(wanted, state);
    }
  }

  async function grow(wanted: string, { text, network, beam, begun }: TranslationState): Promise<void> {
    try {
      const { follow } = await networks.open(network);
      const search = (begun: string, width = Math.max(1, beam)): Promise<Tree> =>
        growBeam((all) => follow(text, all), width, begun);
      const found = await search(begun);
      const other = begun !== "" ? await search("") : beam > 1 ? await search("", 1) : found;
      if (wanted !== asked) return;
      tree = found;
      draw(begun);
      say(textOf(found, other, begun));
      // Another node is under the pointer now.
      teller.leave();
    } catch (error) {
      if (wanted === asked) say(brokenOff(error));
    }
  }

  function draw(begun: string): void {
    const hadFocus = board.contains(document.activeElement);
    const nodes = tree.flatMap((column, at) =>
      column.map((branch, place) => {
        const made = node(branch.date, branch.date.slice(-1), begun);
        made.classList.toggle("dropped", !branch.isKept);
        made.style.gridArea = `${place + 1} / ${at + 2}`;
        const chance = branch.probabilities.at(-1);
        if (chance !== undefined) made.append(h("small", {}, `${Math.round(100 * chance)}`));
        made.addEventListener("pointerenter", () => teller.point({ name: BEAM, row: place, col: at }, false));
        made.addEventListener("pointerleave", () => teller.leave());
        return made;
      }),
    );
    board.replaceChildren(edgesOf(tree), node("", "↦", begun), ...nodes);
    if (hadFocus) board.querySelector<HTMLInputElement>("input:checked")?.focus();
  }

  /** In a date that is chosen, each beginning is its column's first. */
  function node(date: string, character: string, begun: string): HTMLElement {
    const name = date === "" ? "the start" : date;
    const input = h("input", { type: "radio", name: "beam-node", value: date, "aria-label": name });
    input.checked = date === begun;
    input.addEventListener("change", () => {
      store.change({ begun: date, beam: Math.max(1, store.state.beam) }, "new");
      if (date !== "") teller.point({ name: BEAM, row: 0, col: date.length - 1 }, true);
    });
    return h("label", { class: "beam-node" }, input, h("span", {}, character));
  }

  function explain({ row, col }: Cell): Explanation | undefined {
    const branch = tree[col]?.[row];
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

  return { element, show, explain };
}

/** From each node's beginning to it: as thick as the character is likely. */
function edgesOf(tree: Tree): SVGElement {
  const edges = tree.flatMap((column, at) =>
    column.map(({ date, probabilities, isKept }, place) => {
      const from = tree[at - 1]?.findIndex((before) => before.date === date.slice(0, -1)) ?? 0;
      const d = `M${at + 0.75} ${from + LEVEL}L${at + 1.25} ${place + LEVEL}`;
      const look = { stroke: isKept ? "var(--share)" : "var(--line)", "vector-effect": "non-scaling-stroke" };
      return svg("path", { d, ...look, "stroke-width": (1 + 5 * (probabilities.at(-1) ?? 0)).toFixed(2) });
    }),
  );
  const size = { viewBox: `0 0 ${ANSWER + 1} ${WIDEST}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", size, ...edges);
}

/** `other`: where greedy ends, or the same search without what the reader chose. */
function textOf(tree: Tree, other: Tree, begun: string): string {
  const [best, instead] = [tree, other].map((one) => one.at(-1)?.[0]);
  if (best === undefined || instead === undefined) return "";
  const isSame = instead.date === best.date;
  const found = `“${best.date}” has ${percent(best.total)} in all`;
  if (begun !== "") {
    const chance = percent(tree[begun.length - 1]?.[0]?.probabilities.at(-1) ?? 0);
    const free = isSame ? "as it does by itself" : `by itself it ends at “${instead.date}”, ${percent(instead.total)}`;
    return `You wrote “${begun.slice(-1)}” there, which had ${chance}. From “${begun}” the decoder goes on: ${found}; ${free}. Choose ↦ to let it write alone.`;
  }
  const choose = "Press any character, even a dropped one: the decoder must write that, and goes on by itself.";
  if (tree === other) {
    return `A beam of one is greedy: the likeliest character stays, and what is dropped never comes back. ${found}. ${choose}`;
  }
  return isSame
    ? `${found}, and greedy ends there too. ${choose}`
    : `${found}. Greedy ends at “${instead.date}”, ${percent(instead.total)}: it dropped the better branch too early. ${choose}`;
}

/** For each character, the branches that stay and the likeliest that don't: WIDEST in all. A date that begins with `begun` goes on from there. */
async function growBeam(follow: Follow, width: number, begun: string): Promise<Tree> {
  const grown: Branch[][] = [];
  let kept: readonly Branch[] = [{ date: "", probabilities: [], total: 1, isKept: true }];
  for (let at = 0; at < ANSWER; at++) {
    const follows = await follow(kept.map(({ date }) => date));
    const isWanted = ({ date }: Branch): boolean => date === begun.slice(0, at + 1);
    const all = kept
      .flatMap(({ date, probabilities, total }, index) =>
        (follows[index] ?? []).map(({ character, probability }) => ({
          date: date + character,
          probabilities: [...probabilities, probability],
          total: total * probability,
          isKept: false,
        })),
      )
      .sort((a, b) => (at < begun.length ? Number(isWanted(b)) - Number(isWanted(a)) : 0) || b.total - a.total);
    const stay = at < begun.length ? 1 : width;
    const column = all.slice(0, WIDEST).map((branch, place) => ({ ...branch, isKept: place < stay }));
    kept = column.slice(0, stay);
    grown.push(column);
  }
  return grown;
}
