// What the front page says of the weights in view.

import { h } from "../../src/ui/dom.js";
import { percent } from "../../src/ui/numbers.js";
import {
  ANIMAL,
  HEADS,
  type Head,
  headsAtStart,
  LAYERS,
  placeOf,
  type Recorded,
  sharesOf,
  TROPHY,
  weightsOn,
} from "./recorded.js";
import type { FrontState } from "./state.js";

type Said = readonly (Node | string)[];

const bold = (text: string): HTMLElement => h("b", {}, text);
const ALL = LAYERS * HEADS;
const on = (ending: string, head: Head, word: string): number =>
  sharesOf(ANIMAL, ending, head)[placeOf(ANIMAL, word)] ?? 0;

/** A change of weight that one sees. */
const SEEN = 0.05;

/** Below the sentence: what was guessed, what the model answers, what the last word changed. */
export function answerText(state: FrontState): Said {
  const [first = ""] = ANIMAL.endings;
  if (state.ending === first) return [...verdict(state), " Now change the last word."];
  const [before, now, road] = [
    on(first, state, "animal"),
    on(state.ending, state, "animal"),
    on(state.ending, state, "road"),
  ];
  const does = now < before - SEEN ? "lets go of" : now > before + SEEN ? "turns to" : "stays with";
  const figures = `: ${percent(now)} instead of ${percent(before)}. `;
  const said = [
    `With ${state.ending}, “it” ${does} `,
    bold("animal"),
    figures,
    bold("road"),
    ` gets ${percent(road)}.`,
  ];
  const [start = 0, ...rest] = sharesOf(ANIMAL, state.ending, state);
  return start > Math.max(...rest)
    ? [...said, " The largest part goes to the mark before the first word: this head finds no word that fits."]
    : said;
}

function verdict({ guess, ending, ...head }: FrontState): Said {
  const [, ...words] = sharesOf(ANIMAL, ending, head);
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

/** How many of all heads move, and what a mean over all of them would show. */
export function headsText(): string {
  const mean = (ending: string): string => {
    const weights = weightsOn(ANIMAL, ending, "animal");
    return `${((100 * weights.reduce((sum, weight) => sum + weight, 0)) / weights.length).toFixed(1)}\u00a0%`;
  };
  return `From tired to wide, ${moved(ANIMAL, "animal")} of ${ALL} heads change their weight on animal by more than 5 points. The mean over all goes from ${mean("tired")} to ${mean("wide")}. In ${headsAtStart(ANIMAL, "wide")} the start of the sentence gets more than any word.`;
}

/** The other sentence, in which no head notices what changes. */
export function failText(head: Head): string {
  const [big, small] = TROPHY.endings.map((ending) =>
    percent(sharesOf(TROPHY, ending, head)[placeOf(TROPHY, "trophy")] ?? 0),
  );
  const others = moved(TROPHY, "trophy") || "none";
  return `Too big means the trophy, too small the suitcase. This head gives the trophy ${big}, then ${small}; of all ${ALL}, ${others} changes by more than 5 points. Weights say where a model looks, not what it understands.`;
}
