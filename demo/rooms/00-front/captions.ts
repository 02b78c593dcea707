// What the front page says of the weights in view.

import { h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import type { Head } from "./reading.js";
import {
  ANIMAL,
  askerIn,
  headsAtStart,
  MINILM,
  type Recorded,
  sentenceWith,
  TROPHY,
  weightOn,
  weightsOf,
  weightsOn,
} from "./recorded.js";
import { FRONT_STATE, type FrontState } from "./state.js";

type Said = readonly (Node | string)[];

const bold = (text: string): HTMLElement => h("b", {}, text);

/** A change of weight that one sees. */
const SEEN = 0.05;

/** Below the sentence: what was guessed, what the model answers, what the last word changed. */
export function answerText(state: FrontState): Said {
  const { ending } = state;
  const [first = ""] = ANIMAL.endings;
  if (ending === first) return [...verdict(state), " Now change the last word."];
  const [before, now] = [weightOn(ANIMAL, first, state, "animal"), weightOn(ANIMAL, ending, state, "animal")];
  const does = now < before - SEEN ? "lets go of" : now > before + SEEN ? "turns to" : "stays with";
  const [start = 0, ...rest] = weightsOf(ANIMAL, ending, state);
  return [
    `With ${ending}, “it” ${does} `,
    bold("animal"),
    `: ${percent(now)} instead of ${percent(before)}. `,
    bold("road"),
    ` gets ${percent(weightOn(ANIMAL, ending, state, "road"))}. `,
    ...(start > Math.max(...rest) ? ["The largest part goes to the start: this head finds no word that fits. "] : []),
    h("a", { href: addressOf(state) }, "Change any word"),
    ".",
  ];
}

/** The same sentence as a line that one edits, with the weights that were recorded. */
function addressOf({ ending, layer, head }: FrontState): string {
  const own = {
    text: sentenceWith(ending),
    asker: askerIn(ANIMAL),
    ownHead: `${layer}.${head}`,
    by: MINILM,
  };
  return FRONT_STATE.toHash({ ...FRONT_STATE.initial, ...own, row: weightsOf(ANIMAL, ending, { layer, head }) });
}

function verdict({ guess, ending, ...head }: FrontState): Said {
  const [, ...words] = weightsOf(ANIMAL, ending, head);
  const most = words.indexOf(Math.max(...words));
  const begins =
    guess === 0
      ? "In a trained model,"
      : guess === most + 1
        ? "A trained model agrees:"
        : "A trained model looks elsewhere:";
  return [
    `${begins} “it” gives `,
    bold(ANIMAL.words[most] ?? ending),
    ` ${percent(words[most] ?? 0)} of its attention.`,
  ];
}

/** How many heads change what they give a word between the first two endings. */
function moved(recorded: Recorded, word: string): number {
  const [before = [], after = []] = recorded.endings.map((ending) => weightsOn(recorded, ending, word));
  return before.filter((weight, index) => Math.abs(weight - (after[index] ?? 0)) > SEEN).length;
}

/** How many of all heads move, what a mean over all of them would show, and how many rest on the start with the word on the stage. */
export function headsText(ending: string): string {
  const [tired = [], wide = []] = ["tired", "wide"].map((ending) => weightsOn(ANIMAL, ending, "animal"));
  const mean = (weights: readonly number[]): string =>
    `${((100 * weights.reduce((sum, weight) => sum + weight, 0)) / weights.length).toFixed(1)}\u00a0%`;
  return `From tired to wide, ${moved(ANIMAL, "animal")} of ${tired.length} heads change their weight on animal by more than 5 points. The mean over all goes from ${mean(tired)} to ${mean(wide)}. With ${ending}, the start of the sentence gets more than any word in ${headsAtStart(ANIMAL, ending)} of them.`;
}

/** The other sentence, in which no head notices what changes. */
export function failText(head: Head): string {
  const [big, small] = TROPHY.endings.map((ending) => percent(weightOn(TROPHY, ending, head, "trophy")));
  const all = weightsOn(TROPHY, "big", "trophy").length;
  const others = moved(TROPHY, "trophy") || "none";
  return `Too big means the trophy, too small the suitcase. This head gives the trophy ${big}, then ${small}; of all ${all}, ${others} changes by more than 5 points. Weights say where a model looks, not what it understands.`;
}
