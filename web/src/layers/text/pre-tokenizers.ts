// Pre-tokenizers, which split a text into words for the model.

import type { Aligned } from "./aligned.js";
import { toByteCharacters } from "./byte-alphabet.js";
import { type Component, refusal } from "./component.js";
import { exactly, fromOniguruma, readPattern } from "./pattern.js";

/** Splits a section of text into words. `isFirst`: the section is the start of the text. */
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
/** Unicode's punctuation, and all visible ASCII that is neither letter nor digit. */
const PUNCTUATION = /[\p{P}!-/:-@[-`{-~]/gu;
const WORDS =
  /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}\p{White_Space}]+/gu;
const GPT2 = fromOniguruma("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");

function readSequence(component: Component): PreTokenizer {
  return chain(component.steps("pretokenizers").map(readPreTokenizer));
}

function chain(all: readonly PreTokenizer[]): PreTokenizer {
  return (text, isFirst) => {
    let words = [text];
    for (const one of all) words = words.flatMap((word, index) => one(word, isFirst && index === 0));
    return words;
  };
}

/** What happens to the matches of a pattern: `Behavior` of tokenizer.json. */
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

/** `inverted` exchanges matches and the text between them. */
function splitAt(pattern: RegExp, behavior: Behavior, inverted = false): PreTokenizer {
  return (text) => {
    const all = [...segmentsOf(text.text, pattern)].map((one) => ({ ...one, isFound: one.isFound !== inverted }));
    return arrange(all, behavior).map(({ from, to }) => text.slice(from, to));
  };
}

/** A match of a pattern, or the text between two matches. */
interface Segment {
  readonly from: number;
  readonly to: number;
  readonly isFound: boolean;
}

function* segmentsOf(text: string, pattern: RegExp): Generator<Segment> {
  let at = 0;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (found === "") continue;
    if (index > at) yield { from: at, to: index, isFound: false };
    at = index + found.length;
    yield { from: index, to: at, isFound: true };
  }
  if (at < text.length) yield { from: at, to: text.length, isFound: false };
}

function arrange(all: readonly Segment[], behavior: Behavior): readonly Segment[] {
  if (behavior === "Removed") return all.filter(({ isFound }) => !isFound);
  if (behavior === "Isolated") return all;
  if (behavior === "Contiguous") return merge(all, (one, next) => one.isFound === next.isFound);
  // Of several consecutive matches, only the one next to other text is merged with it.
  if (behavior === "MergedWithPrevious") return merge(all, (one, next) => !one.isFound && next.isFound);
  return merge(all, (one, next) => one.isFound && !next.isFound);
}

/** Merges each segment with the one before it where `belongs` says so. */
function merge(all: readonly Segment[], belongs: (one: Segment, next: Segment) => boolean): Segment[] {
  const merged: Segment[] = [];
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
    return split(spaced, isFirst).map((word) => word.map(toByteCharacters));
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

/** When a text gets a mark in front. Older files have another field for it. */
export function readScheme(component: Component): string {
  const scheme = component.text("prepend_scheme", component.flag("add_prefix_space", true) ? "always" : "never");
  if (["always", "first", "never"].includes(scheme)) return scheme;
  throw refusal(`${component.what}: prepend_scheme must be always, first or never`, scheme);
}
