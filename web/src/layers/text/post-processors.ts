// Post-processors, which add special tokens around the tokens of a text or a pair of texts.

import { type Component, isWhole, refusal } from "./component.js";
import { trimmedEnd } from "./normalizers.js";

/** A token of the result. `start` and `end` are its range in the text, 0 and 0 for a token that was added. */
export interface Token {
  readonly id: number;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly typeId: number;
}

export interface PostProcessor {
  /** How many tokens are added to one text, or to two. */
  added(isPair: boolean): number;
  process(first: readonly Token[], second: readonly Token[] | null, addSpecialTokens: boolean): Token[];
}

export const NO_POST_PROCESSOR: PostProcessor = {
  added: () => 0,
  process: (first, second) => [...first, ...(second ?? []).map((token) => ({ ...token, typeId: 1 }))],
};

const READERS = new Map<string, (component: Component) => PostProcessor>([
  ["TemplateProcessing", readTemplate],
  ["BertProcessing", (component) => readEnds(component, 1)],
  ["RobertaProcessing", readRoberta],
  ["ByteLevel", readByteLevel],
  ["Sequence", readSequence],
]);

export function readPostProcessor(component: Component): PostProcessor {
  const read = READERS.get(component.type);
  if (read === undefined) throw component.unsupported();
  return read(component);
}

/** The most tokens that a special token of a template may have. Usually it has one. */
const MOST_IDS = 64;

/** A part of a template: a text, or added tokens. */
type Slot = { readonly sequence: "A" | "B"; readonly typeId: number } | { readonly tokens: readonly Token[] };

const isText = (slot: Slot): slot is Extract<Slot, { sequence: string }> => "sequence" in slot;

function ofTemplates(single: readonly Slot[], pair: readonly Slot[]): PostProcessor {
  return {
    added: (isPair) =>
      (isPair ? pair : single).reduce((total, slot) => total + (isText(slot) ? 0 : slot.tokens.length), 0),
    process: (first, second, addSpecialTokens) =>
      (second === null ? single : pair).flatMap((slot) => {
        if (!isText(slot)) return addSpecialTokens ? slot.tokens : [];
        const tokens = slot.sequence === "A" ? first : (second ?? []);
        return tokens.map((token) => ({ ...token, typeId: slot.typeId }));
      }),
  };
}

function readTemplate(component: Component): PostProcessor {
  const specials = new Map(
    component.entries("special_tokens").map(([name]) => [name, component.part("special_tokens").part(name)]),
  );
  const readSlot = (slot: Component): Slot => {
    const text = slot.optional("Sequence");
    if (text !== null) {
      const sequence = text.text("id", "A");
      if (sequence !== "A" && sequence !== "B") throw refusal(`${text.what}: id must be A or B`, sequence);
      return { sequence, typeId: text.whole("type_id", 0) };
    }
    const part = slot.part("SpecialToken");
    const name = part.text("id", "");
    const special = specials.get(name);
    if (special === undefined) throw refusal(`${part.what}: id must be one of special_tokens`, name);
    const typeId = part.whole("type_id", 0);
    const texts = special.list("tokens");
    const ids = special.list("ids");
    if (ids.length > MOST_IDS) throw refusal(`${special.what}: ids must be at most ${MOST_IDS}`, ids);
    const tokens = ids.map((id, index) => {
      const text = texts[index];
      if (!isWhole(id) || typeof text !== "string") throw refusal(`${special.what}: must have ids and tokens`, id);
      return { id, text, start: 0, end: 0, typeId };
    });
    return { tokens };
  };
  const readSlots = (template: string): Slot[] => {
    const slots = component.steps(template).map(readSlot);
    const texts = slots.filter(isText).map(({ sequence }) => sequence);
    if (new Set(texts).size === texts.length) return slots;
    throw refusal(`${component.what}: ${template} must have each text once`, texts);
  };
  return ofTemplates(readSlots("single"), readSlots("pair"));
}

/** `[cls] A [sep] B [sep]`; RoBERTa has two [sep] in the middle, and one type for all. */
function readEnds(component: Component, pairType: 0 | 1): PostProcessor {
  const read = (name: string, typeId: number): Slot => {
    const [text, id] = component.list(name);
    if (typeof text !== "string" || !isWhole(id)) {
      throw refusal(`${component.what}: ${name} must be a token and its number`, component.get(name));
    }
    return { tokens: [{ id, text, start: 0, end: 0, typeId }] };
  };
  const [cls, sep, last] = [read("cls", 0), read("sep", 0), read("sep", pairType)];
  const [a, b] = [{ sequence: "A", typeId: 0 } as const, { sequence: "B", typeId: pairType } as const];
  const templates = ofTemplates([cls, a, sep], [cls, a, sep, ...(pairType === 0 ? [sep] : []), b, last]);
  return {
    ...templates,
    process: (first, second, addSpecialTokens) =>
      (addSpecialTokens ? templates : NO_POST_PROCESSOR).process(first, second, addSpecialTokens),
  };
}

function readRoberta(component: Component): PostProcessor {
  const trim = readTrim(component);
  const ends = readEnds(component, 0);
  return {
    ...ends,
    process: (first, second, addSpecialTokens) => {
      const [one, other] = [trim(first), second && trim(second)];
      // Without added tokens, too, a pair has one type.
      return addSpecialTokens ? ends.process(one, other, true) : [...one, ...(other ?? [])];
    },
  };
}

function readByteLevel(component: Component): PostProcessor {
  const trim = readTrim(component);
  return {
    added: () => 0,
    process: (first, second) => NO_POST_PROCESSOR.process(trim(first), second && trim(second), false),
  };
}

/** With `trim_offsets` the range of a token excludes the spaces around its text. */
function readTrim(component: Component): (tokens: readonly Token[]) => readonly Token[] {
  const addsSpace = component.flag("add_prefix_space", true);
  if (!component.flag("trim_offsets", true)) return (tokens) => tokens;
  return (tokens) =>
    tokens.map((token, index) => {
      const { text, start, end } = token;
      const isFirst = index === 0 || start === 0;
      const leading = /^[\u0120\p{White_Space}]*/u.exec(text)?.[0].length ?? 0;
      // A space that was added in front is not in the text.
      const own = isFirst && addsSpace ? Math.max(leading - 1, 0) : leading;
      const from = Math.min(start + own, end);
      // A token of spaces only has an empty range.
      if (leading === text.length) return { ...token, start: from, end: from };
      const trailing = text.length - trimmedEnd(text, /[\u0120\p{White_Space}]/u);
      return { ...token, start: from, end: Math.max(end - trailing, from) };
    });
}

function readSequence(component: Component): PostProcessor {
  const all = component.steps("processors").map(readPostProcessor);
  const adding = all.filter((one) => one.added(true) > 0);
  if (adding.length > 1) throw component.unsupported();
  const [last = NO_POST_PROCESSOR] = adding;
  // Processors that add nothing change each text by itself.
  const alone = (tokens: readonly Token[]): readonly Token[] =>
    all.reduce((changed, one) => (one === last ? changed : one.process(changed, null, false)), tokens);
  return {
    added: (isPair) => last.added(isPair),
    process: (first, second, addSpecialTokens) => last.process(alone(first), second && alone(second), addSpecialTokens),
  };
}
