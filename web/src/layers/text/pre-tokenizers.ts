// How a tokenizer cuts a text into words before its model sees them.

import type { Aligned } from "./aligned.js";
import { toByteCharacters } from "./byte-alphabet.js";
import { type Component, refusal } from "./component.js";
import { exactly, fromOniguruma, readPattern } from "./pattern.js";

/** Pieces of one stretch of text; `isFirst` of the stretch that the text starts with. */
export type PreTokenizer = (text: Aligned, isFirst: boolean) => Aligned[];

const READERS = new Map<string, (component: Component) => PreTokenizer>([
  ["Sequence", readSequence],
  ["BertPreTokenizer", () => chain([splitAt(SPACES, "Removed"), splitAt(PUNCTUATION, "Isolated")])],
  ["Whitespace", () => splitAt(WORDS, "Removed", true)],
  ["WhitespaceSplit", () => splitAt(SPACES, "Removed")],
  ["Punctuation", (component) => splitAt(PUNCTUATION, readBehavior(component, "Isolated"))],
  ["Digits", (component) => splitAt(component.flag("individual_digits", false) ? /\p{N}/gu : /\p{N}+/gu, "Isolated")],
  ["Split", readSplit],
  ["ByteLevel", readByteLevel],
  ["Metaspace", readMetaspace],
]);

export function readPreTokenizer(component: Component): PreTokenizer {
  const read = READERS.get(component.type);
  if (read === undefined) throw component.unsupported();
  return read(component);
}

const SPACES = /\p{White_Space}/gu;
/** Unicode's, and all of ASCII that is neither letter nor digit. */
const PUNCTUATION = /[\p{P}!-/:-@[-`{-~]/gu;
const WORDS =
  /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+/gu;
const GPT2 = fromOniguruma("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");

function readSequence(component: Component): PreTokenizer {
  return chain(component.steps("pretokenizers").map(readPreTokenizer));
}

function chain(all: readonly PreTokenizer[]): PreTokenizer {
  return (text, isFirst) => {
    let pieces = [text];
    for (const one of all) pieces = pieces.flatMap((piece, index) => one(piece, isFirst && index === 0));
    return pieces;
  };
}

/** What becomes of what was found between pieces. */
type Behavior = "Removed" | "Isolated" | "MergedWithPrevious" | "MergedWithNext" | "Contiguous";

const BEHAVIORS: readonly Behavior[] = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"];

function readBehavior(component: Component, absent: Behavior | undefined): Behavior {
  const given = component.text("behavior", absent);
  const behavior = BEHAVIORS.find((one) => one === given);
  if (behavior !== undefined) return behavior;
  throw refusal(`${component.what}: behavior must be one of ${BEHAVIORS.join(", ")}`, given);
}

function readSplit(component: Component): PreTokenizer {
  return splitAt(readPattern(component), readBehavior(component, undefined), component.flag("invert", false));
}

/** `inverted` takes what lies between for what was found, and the other way round. */
function splitAt(pattern: RegExp, behavior: Behavior, inverted = false): PreTokenizer {
  return (text) => {
    const all = [...stretches(text.text, pattern)].map((one) => ({ ...one, isFound: one.isFound !== inverted }));
    return arrange(all, behavior).map(({ from, to }) => text.slice(from, to));
  };
}

/** A part of a text that was found, or lies between what was. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly isFound: boolean;
}

function* stretches(text: string, pattern: RegExp): Generator<Stretch> {
  let at = 0;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (found === "") continue;
    if (index > at) yield { from: at, to: index, isFound: false };
    at = index + found.length;
    yield { from: index, to: at, isFound: true };
  }
  if (at < text.length) yield { from: at, to: text.length, isFound: false };
}

function arrange(all: readonly Stretch[], behavior: Behavior): readonly Stretch[] {
  if (behavior === "Removed") return all.filter(({ isFound }) => !isFound);
  if (behavior === "Isolated") return all;
  if (behavior === "Contiguous") return merge(all, (one, next) => one.isFound === next.isFound);
  // Of several that were found in a row, only the one beside what lies between is merged with it.
  if (behavior === "MergedWithPrevious") return merge(all, (one, next) => !one.isFound && next.isFound);
  return merge(all, (one, next) => one.isFound && !next.isFound);
}

/** Merges each with the one before it where the two say so. */
function merge(all: readonly Stretch[], belongs: (one: Stretch, next: Stretch) => boolean): Stretch[] {
  const merged: Stretch[] = [];
  for (const [index, next] of all.entries()) {
    const before = all[index - 1];
    const last = merged.at(-1);
    if (before !== undefined && last !== undefined && belongs(before, next)) {
      merged[merged.length - 1] = { ...last, to: next.to };
    } else merged.push(next);
  }
  return merged;
}

function readByteLevel(component: Component): PreTokenizer {
  const addsSpace = component.flag("add_prefix_space", true);
  const split: PreTokenizer = component.flag("use_regex", true) ? splitAt(GPT2, "Isolated") : (text) => [text];
  return (text, isFirst) => {
    const needsSpace = addsSpace && !text.text.startsWith(" ");
    const spaced = needsSpace ? text.change([{ from: 0, to: 0, text: " " }]) : text;
    return split(spaced, isFirst).map((piece) => piece.map(toByteCharacters));
  };
}

function readMetaspace(component: Component): PreTokenizer {
  const replacement = component.text("replacement", "\u2581");
  const scheme = readScheme(component);
  const cutsWords = component.flag("split", true);
  const split = splitAt(exactly(replacement), "MergedWithNext");
  return (text, isFirst) => {
    const marked = text.map((character) => (character === " " ? replacement : character));
    const wants = scheme === "always" || (scheme === "first" && isFirst);
    const isMarked = !wants || marked.text.startsWith(replacement);
    const whole = isMarked ? marked : marked.change([{ from: 0, to: 0, text: replacement }]);
    return cutsWords ? split(whole, isFirst) : [whole];
  };
}

/** When a text gets a mark in front. Older files say it otherwise. */
export function readScheme(component: Component): string {
  const scheme = component.text("prepend_scheme", component.flag("add_prefix_space", true) ? "always" : "never");
  if (["always", "first", "never"].includes(scheme)) return scheme;
  throw refusal(`${component.what}: prepend_scheme must be always, first or never`, scheme);
}
