// Normalizers, which change a text before it is split: lower case, accents, Unicode forms, replacements.

import type { Aligned, Change } from "./aligned.js";
import { toByteCharacters } from "./byte-alphabet.js";
import type { Component } from "./component.js";
import { readPattern } from "./pattern.js";
import { readPrecompiled } from "./precompiled.js";

export type Normalizer = (text: Aligned) => Aligned;

type Reader = (component: Component) => Normalizer;

const READERS = new Map<string, Reader>([
  ["Sequence", (component) => chain(component.steps("normalizers").map(readNormalizer))],
  ["BertNormalizer", readBert],
  ["Lowercase", () => lowercase],
  ["StripAccents", () => (text) => text.map((character) => (/\p{M}/u.test(character) ? "" : character))],
  ["NFC", () => unicode("NFC")],
  ["NFD", () => unicode("NFD")],
  ["NFKC", () => unicode("NFKC")],
  ["NFKD", () => unicode("NFKD")],
  ["Prepend", readPrepend],
  ["Replace", readReplace],
  ["Strip", readStrip],
  ["Precompiled", readPrecompiled],
  ["ByteLevel", () => (text) => text.map(toByteCharacters)],
]);

export function readNormalizer(component: Component): Normalizer {
  const read = READERS.get(component.type);
  if (read === undefined) throw component.unsupported();
  return read(component);
}

const chain =
  (all: readonly Normalizer[]): Normalizer =>
  (text) =>
    all.reduce((changed, one) => one(changed), text);

const lowercase: Normalizer = (text) => text.map((character) => character.toLowerCase());

/** BERT's: removes control characters, separates Chinese characters, removes accents, and makes lower case. */
function readBert(component: Component): Normalizer {
  const isLower = component.flag("lowercase", true);
  const steps: Normalizer[] = [];
  if (component.flag("clean_text", true)) steps.push((text) => text.map(clean));
  if (component.flag("handle_chinese_chars", true)) {
    steps.push((text) => text.map((character) => (isChinese(character) ? ` ${character} ` : character)));
  }
  if (component.flag("strip_accents", isLower)) {
    steps.push(unicode("NFD"), (text) => text.map((character) => (/\p{Mn}/u.test(character) ? "" : character)));
  }
  if (isLower) steps.push(lowercase);
  return chain(steps);
}

function clean(character: string): string {
  if (/[\t\n\r]/u.test(character)) return " ";
  if (/[\p{Cc}\p{Cf}\p{Co}\ufffd]/u.test(character)) return "";
  return /\p{White_Space}/u.test(character) ? " " : character;
}

/** The blocks of Chinese characters that BERT separates. */
const CHINESE =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/u;
const isChinese = (character: string): boolean => CHINESE.test(character);

/** Characters that Unicode's forms treat together: a character with the marks, or the Korean letters, that follow it. */
const CLUSTERS = /[^\p{M}\u1160-\u11ff]?[\p{M}\u1160-\u11ff]*/gu;

function unicode(form: "NFC" | "NFD" | "NFKC" | "NFKD"): Normalizer {
  return (text) => {
    if (text.text.normalize(form) === text.text) return text;
    const changes: Change[] = [];
    for (const { 0: cluster, index } of text.text.matchAll(CLUSTERS)) {
      const changed = cluster.normalize(form);
      if (changed === cluster) continue;
      // Where it gives the same text, each character is changed by itself, so that its range stays its own.
      const apart = [...cluster].map((character) => character.normalize(form));
      const isApart = apart.join("") === changed;
      const [from, to] = [index, index + cluster.length];
      if (isApart) changes.push(...eachChanged([...cluster], apart, from));
      else changes.push({ from, to, text: changed });
    }
    return text.change(changes);
  };
}

function eachChanged(characters: readonly string[], texts: readonly string[], start: number): Change[] {
  let at = start;
  return characters.map((character, index) => {
    const from = at;
    at += character.length;
    return { from, to: at, text: texts[index] ?? "" };
  });
}

function readPrepend(component: Component): Normalizer {
  const added = component.text("prepend", "");
  return (text) => (text.text === "" ? text : text.change([{ from: 0, to: 0, text: added }]));
}

function readReplace(component: Component): Normalizer {
  const pattern = readPattern(component);
  const content = component.text("content", "");
  return (text) =>
    text.change(
      [...text.text.matchAll(pattern)]
        .filter(([found]) => found !== "")
        .map(({ 0: found, index }) => ({ from: index, to: index + found.length, text: content })),
    );
}

function readStrip(component: Component): Normalizer {
  const left = component.flag("strip_left", true);
  const right = component.flag("strip_right", true);
  return (text) => {
    const from = left ? (/^\p{White_Space}*/u.exec(text.text)?.[0].length ?? 0) : 0;
    const rest = text.slice(from, text.text.length);
    const spaces = right ? rest.text.length - trimmedEnd(rest.text) : 0;
    return rest.slice(0, rest.text.length - spaces);
  };
}

/** Where the spaces at the end start. A loop, because a regular expression would try every space in the text. */
export function trimmedEnd(text: string, space = /\p{White_Space}/u): number {
  let end = text.length;
  while (end > 0 && space.test(text[end - 1] ?? "")) end -= 1;
  return end;
}
