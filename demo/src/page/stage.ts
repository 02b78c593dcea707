// The sentence at the top of the page: shows which word is in the light, and says in words what the arcs show.

import { type FlowSelection, HeedFlow } from "heed/viz";
import { at, type Matrix } from "../model/matrix.js";
import type { State, WalkStore } from "../model/state.js";
import { meaningOf, WORDS_KNOWN } from "../model/vocabulary.js";
import type { Walk } from "../model/walk.js";
import { find, h, on } from "../ui/dom.js";
import { percent } from "../ui/numbers.js";

const NOTE = `Dotted words are not among the ${WORDS_KNOWN} that this page knows: their numbers are made from their letters and mean nothing.`;

export function sentenceStage(store: WalkStore, root: HTMLElement) {
  const flow = find("heed-flow", HeedFlow, root);
  const [said, note] = [find(".stage-caption", HTMLElement, root), find(".stage-note", HTMLElement, root)];
  let shown: { readonly walk: Walk; readonly weights: Matrix | undefined } | undefined;
  let hovered = -1;

  const draw = (): void => {
    if (shown === undefined) return;
    const { state } = store;
    const { walk, weights } = shown;
    const asker = [hovered, state.asker].find((word) => word >= 0) ?? tellingWord(walk);
    const first = walk.labels.length - walk.askers.length;
    const rows = walk.labels.map((_, word) =>
      word < first || weights === undefined ? undefined : walk.labels.map((_, key) => at(weights, word - first, key)),
    );
    const noted = (word: string): boolean => walk.unknown.includes(word);
    flow.show({ words: walk.labels, shares: rows, hidden: new Set(state.hidden), asker, noted });
    said.replaceChildren(...caption(walk, rows[asker], asker, state));
    note.textContent = walk.unknown.length > 0 ? NOTE : "";
  };
  const hover = (word: number): void => {
    hovered = word;
    draw();
  };
  on<FlowSelection>(flow, "inspect", ({ word }) => hover(word));
  flow.addEventListener("leave", () => hover(-1));
  on<FlowSelection>(flow, "select", ({ word }) => store.change({ asker: word }));
  flow.still = true;
  return {
    /** `weights`: of the head in view, from the kernel where it runs. */
    show: (walk: Walk, weights: Matrix | undefined): void => {
      if (shown?.walk.labels.join("\n") !== walk.labels.join("\n")) hovered = -1;
      shown = { walk, weights };
      draw();
    },
  };
}

/** The word to begin with when nobody has chosen one: a pronoun, as it has most to ask; -1 where there is no word. */
export function tellingWord(walk: Walk): number {
  const first = walk.labels.length - walk.askers.length;
  const ranks = walk.askers.map((word): number => {
    const { points = 0, glue = 0 } = meaningOf(word) ?? {};
    if (points > 0) return 0;
    return glue > 0 ? 2 : 1;
  });
  return ranks.length === 0 ? -1 : first + ranks.indexOf(Math.min(...ranks));
}

function caption(walk: Walk, weights: readonly number[] | undefined, asker: number, state: State): (Node | string)[] {
  const word = walk.labels[asker];
  if (word === undefined) return ["Type a sentence, and its words will look at each other here."];
  const name = (label: string): HTMLElement =>
    h("b", { class: walk.unknown.includes(label) ? "noted" : undefined }, h("bdi", {}, label));
  if (weights === undefined) return [name(word), " does not ask: only the last words do."];
  const best = weights
    .map((weight, key) => ({ weight, key }))
    .filter(({ weight }) => weight >= 0.03)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, 3);
  if (best.length === 0) return [name(word), " may see no word at all: its output is zero."];
  const list = best.flatMap(({ weight, key }, index): (Node | string)[] => [
    index === 0 ? "" : ", ",
    name(walk.labels[key] ?? ""),
    ` ${percent(weight)}`,
  ]);
  const head = state.heads > 1 ? ` (head ${state.head + 1} of ${state.heads})` : "";
  return [name(word), ` listens to `, ...list, `${head}.`];
}
