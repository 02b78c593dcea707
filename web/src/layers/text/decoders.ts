// Decoders: from tokens back to text.

import type { Budget } from "./budget.js";
import { textOfBytes, toBytes } from "./byte-alphabet.js";
import type { Component } from "./component.js";
import { readPattern } from "./pattern.js";
import { readScheme } from "./pre-tokenizers.js";

/** Changes the texts of tokens. Those of the last decoder are concatenated. */
export type Decoder = (tokens: readonly string[], budget: Budget) => readonly string[];

const READERS = new Map<string, (component: Component) => Decoder>([
  ["Sequence", readSequence],
  ["WordPiece", readWordPiece],
  ["ByteLevel", () => (tokens) => [textOfBytes(tokens.flatMap((token) => toBytes(token)))]],
  ["ByteFallback", () => joinBytes],
  ["Fuse", () => (tokens) => [tokens.join("")]],
  ["Metaspace", readMetaspace],
  ["Replace", readReplace],
  ["Strip", readStrip],
  ["BPEDecoder", readBpe],
]);

/** For a file without a decoder: tokens are joined by spaces. */
export const NO_DECODER: Decoder = (tokens) => [tokens.join(" ")];

export function readDecoder(component: Component): Decoder {
  const read = READERS.get(component.type);
  if (read === undefined) throw component.unsupported();
  return read(component);
}

function readSequence(component: Component): Decoder {
  const all = component.steps("decoders").map(readDecoder);
  return (tokens, budget) =>
    all.reduce((changed, one) => {
      const made = one(changed, budget);
      budget.spend(made.reduce((total, token) => total + token.length, 0));
      return made;
    }, tokens);
}

/** Removes spaces that English text does not have. */
const CLEANED: readonly (readonly [string, string])[] = [
  [" .", "."],
  [" ?", "?"],
  [" !", "!"],
  [" ,", ","],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" do not", " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];

function readWordPiece(component: Component): Decoder {
  const prefix = component.text("prefix", "##");
  const cleans = component.flag("cleanup", true);
  return (tokens) =>
    tokens.map((token, index) => {
      const isPart = index > 0 && token.startsWith(prefix);
      const text = isPart ? token.slice(prefix.length) : index > 0 ? ` ${token}` : token;
      return cleans ? CLEANED.reduce((clean, [from, to]) => clean.replaceAll(from, to), text) : text;
    });
}

/** Consecutive byte tokens become their text, or one U+FFFD for each byte where they are not UTF-8. */
const joinBytes: Decoder = (tokens) => {
  const texts: string[] = [];
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length === 0) return;
    const text = textOfBytes(bytes);
    const isText = !text.includes("\ufffd") || new TextEncoder().encode(text).join() === bytes.join();
    texts.push(isText ? text : "\ufffd".repeat(bytes.length));
    bytes = [];
  };
  for (const token of tokens) {
    const byte = /^<0x([0-9A-Fa-f]{2})>$/u.exec(token)?.[1];
    if (byte !== undefined) bytes.push(Number.parseInt(byte, 16));
    else {
      flush();
      texts.push(token);
    }
  }
  flush();
  return texts;
};

function readMetaspace(component: Component): Decoder {
  const replacement = component.text("replacement", "\u2581");
  const marksStart = readScheme(component) !== "never";
  return (tokens) => tokens.map((token, index) => token.replaceAll(replacement, index === 0 && marksStart ? "" : " "));
}

function readReplace(component: Component): Decoder {
  const pattern = readPattern(component);
  const content = component.text("content", "");
  return (tokens, budget) => {
    const replaced = (): string => {
      budget.spend(content.length);
      return content;
    };
    return tokens.map((token) => token.replace(pattern, replaced));
  };
}

/** Removes up to so many of a character from the start and the end of each token. */
function readStrip(component: Component): Decoder {
  const content = component.text("content", " ");
  const [start, stop] = [component.whole("start", 0), component.whole("stop", 0)];
  return (tokens) =>
    tokens.map((token) => {
      const characters = [...token];
      let from = 0;
      while (from < start && characters[from] === content) from += 1;
      let to = characters.length;
      while (to > from && characters.length - to < stop && characters[to - 1] === content) to -= 1;
      return characters.slice(from, to).join("");
    });
}

function readBpe(component: Component): Decoder {
  const suffix = component.text("suffix", "</w>");
  return (tokens) => tokens.map((token, index) => token.replaceAll(suffix, index === tokens.length - 1 ? "" : " "));
}
