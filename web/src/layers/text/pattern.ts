// Translates the patterns of tokenizer.json, which are Oniguruma's (as in Ruby), to regular expressions of JavaScript.

import { showValue } from "../../base/describe.js";
import { causeText, HeedError } from "../../base/errors.js";
import { type Component, refusal, WHERE } from "./component.js";
import { charactersIn, isAmbiguous, NOTHING, overlap, type PatternNode, triesOf } from "./pattern-ambiguity.js";

/** Reads `pattern: { String } | { Regex }` to an expression with the flags g and u. */
export function readPattern(component: Component): RegExp {
  const pattern = component.part("pattern");
  const string = pattern.text("String", undefined);
  if (string !== undefined) return exactly(string);
  const regex = pattern.text("Regex", undefined);
  if (regex === undefined)
    throw refusal(`${component.what}: pattern must be a String or a Regex`, component.get("pattern"));
  return fromOniguruma(regex);
}

/** An expression that finds a text. */
export function exactly(text: string): RegExp {
  checkLength(text);
  return new RegExp(literal(text), "gu");
}

function checkLength(pattern: string): void {
  if (pattern.length > LONGEST) throw refusal(`a pattern must have at most ${LONGEST} characters`, pattern.length);
}

/** Escapes a text for an expression. */
export function literal(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|/]/gu, "\\$&");
}

/** Published patterns have up to 500 characters, and groups two or three deep. */
const LONGEST = 4096;
const DEEPEST = 32;

/** Throws HeedError `unsupported` for what JavaScript cannot express, and `load` for an invalid pattern. */
export function fromOniguruma(pattern: string): RegExp {
  checkLength(pattern);
  const source = new Translator(pattern).translate();
  try {
    return new RegExp(source, "gu");
  } catch (cause) {
    throw new HeedError("load", `${WHERE}: ${showValue(pattern)} is no pattern: ${causeText(cause)}`, { cause });
  }
}

/** A part of a pattern in JavaScript's syntax, and as a node for the tests of its ambiguity. */
interface Translated {
  readonly source: string;
  readonly node: PatternNode;
  /** Whether it ends with repetitions that share characters, after which nothing may fail. */
  readonly isShared: boolean;
}

/** A part of a group, and how often it must be there. */
interface Atom extends Translated {
  readonly isGroup: boolean;
  readonly least: number;
}

const BAR: Translated = { source: "|", node: NOTHING, isShared: false };

/** Beside the one part with most tries, what shares its characters may have so many. */
const MOST_TRIES = 16;

/** Parts of a group that share characters: a matcher combines each try of one with each try of the others. */
interface Shared {
  readonly characters: ReadonlySet<string>;
  readonly tries: readonly number[];
}

/** Whether the group ends with parts that share characters and have too many tries together; null where what follows them may fail. */
function sharing(atoms: readonly Atom[]): boolean | null {
  let all: readonly Shared[] = [];
  let [isShared, isAnywhere] = [false, false];
  for (const { source, node, isGroup, least, ...atom } of atoms) {
    if (source === BAR.source) {
      [all, isShared] = [[], false];
      continue;
    }
    if (isShared && least > 0) return null;
    const characters = charactersIn(node);
    const before = all.filter((one) => overlap(one.characters, characters));
    // What must be there, and has no character of a repetition, tells where that ends.
    const isSeparator = !isGroup && least > 0 && node !== NOTHING;
    if (isSeparator) all = before;
    const own = triesOf(node);
    if (own > 1) {
      const tries = [own, ...before.flatMap((one) => one.tries)].sort((a, b) => a - b);
      isShared ||= tries.slice(0, -1).reduce((product, each) => product * each, 1) > MOST_TRIES;
      const joined = new Set([...characters, ...before.flatMap((one) => [...one.characters])]);
      all = [...all.filter((one) => !before.includes(one)), { characters: joined, tries }];
    }
    // A group that tries several things of its own may fail after one of them.
    if (isShared && isGroup && least > 0 && triesOf(node.kind === "repeat" ? node.part : node) > 1) return null;
    isShared ||= atom.isShared;
    isAnywhere ||= isShared;
  }
  return isAnywhere;
}

/** The atoms of a group as alternatives of sequences. */
function nodeOf(atoms: readonly Atom[]): PatternNode {
  const alternatives: PatternNode[][] = [[]];
  for (const { source, node } of atoms) {
    if (source === BAR.source) alternatives.push([]);
    else alternatives.at(-1)?.push(node);
  }
  const parts = alternatives.map((sequence): PatternNode => ({ kind: "sequence", parts: sequence }));
  return parts.length === 1 ? (parts[0] ?? NOTHING) : { kind: "choice", parts };
}

/** The least and the largest count of a quantifier. */
function boundsOf(quantifier: string): readonly [number, number] {
  if (quantifier === "?") return [0, 1];
  if (quantifier === "*") return [0, Infinity];
  if (quantifier === "+") return [1, Infinity];
  const [least = "", most] = quantifier.slice(1, -1).split(",");
  return [Number(least), most === undefined ? Number(least) : most === "" ? Infinity : Number(most)];
}

/** The start and the end of a line. */
const START = "(?<![^\\n])";
const END = "(?![^\\n])";

const isEmpty = (source: string): boolean => [START, END, "\\b", "\\B"].includes(source);

// Unicode's spaces: JavaScript's own \s has a byte order mark more and U+0085 less.
const SPACE = "\\p{White_Space}";
const WORD = "\\p{L}\\p{M}\\p{Nd}\\p{Pc}";

/** Escapes by the contents of their class, and whether it is negated. */
const CLASSES: Readonly<Record<string, readonly [string, boolean]>> = {
  s: [SPACE, false],
  S: [SPACE, true],
  d: ["\\p{Nd}", false],
  D: ["\\p{Nd}", true],
  w: [WORD, false],
  W: [WORD, true],
  h: ["0-9A-Fa-f", false],
  H: ["0-9A-Fa-f", true],
};

/** Escapes with the same meaning in both. */
const SAME = "nrtfvbB";

/** Further characters that match a letter when case is ignored. */
const FOLDED: Readonly<Record<string, string>> = { s: "\u017f", k: "\u212a" };

/** Translates a pattern in one pass. Atoms are kept in a list, because a quantifier repeats the last one. */
class Translator {
  readonly #pattern: string;
  #at = 0;
  #atomics = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  translate(): string {
    const { source } = this.#alternatives(false);
    if (this.#at < this.#pattern.length) throw this.#unsupported(")");
    return source;
  }

  /** Reads up to the end, or up to the bracket that closes the group. */
  #alternatives(ignoreCase: boolean): Translated {
    const atoms: Atom[] = [];
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ")") {
      const quantifier = /[?*+]|\{(?:\d+,?\d*|,\d+)\}/uy;
      quantifier.lastIndex = this.#at;
      const found = atoms.length > 0 ? quantifier.exec(this.#pattern)?.[0] : undefined;
      const last = found === undefined ? undefined : atoms.pop();
      if (found === undefined || last === undefined) {
        const isGroup = this.#pattern[this.#at] === "(";
        atoms.push({ ...this.#atom(ignoreCase), isGroup, least: 1 });
      } else atoms.push(this.#quantified(last, found));
    }
    const isShared = sharing(atoms);
    if (isShared === null) throw this.#endless();
    return { source: atoms.map(({ source }) => source).join(""), node: nodeOf(atoms), isShared };
  }

  #quantified(atom: Atom, written: string): Atom {
    this.#at += written.length;
    let quantifier = written.replace("{,", "{0,");
    let [least, most] = boundsOf(quantifier);
    // A plus after braces repeats the repetition. Any number of repetitions of up to n is any number.
    if (written.length > 1 && least <= 1 && most > 1 && this.#pattern[this.#at] === "+") {
      this.#at += 1;
      quantifier = `{${least},}`;
      most = Infinity;
    }
    if (atom.node.kind !== "character" && most > 1 && isAmbiguous(atom.node)) throw this.#endless();
    const source = `${atom.source}${quantifier}`;
    const node: PatternNode = { kind: "repeat", part: atom.node, least, most };
    const next = this.#pattern[this.#at];
    if (next === "+" && quantifier.length > 1) return { ...atom, source: `(?:${source})`, node };
    const repeated = { ...atom, source, node, least };
    if (next !== "?" && next !== "+") return repeated;
    this.#at += 1;
    if (next === "?") return { ...repeated, source: `${source}?` };
    return { ...repeated, source: this.#atomic(source), node: { kind: "atomic", part: node }, isShared: false };
  }

  /** A group without backtracking: a look-ahead, and a reference to what it matched. */
  #atomic(source: string): string {
    const name = `a${this.#atomics++}`;
    return `(?:(?=(?<${name}>${source}))\\k<${name}>)`;
  }

  #atom(ignoreCase: boolean): Translated {
    const character = this.#take();
    if (character === "(") return this.#group(ignoreCase);
    if (character === "|") return BAR;
    const source = this.#single(character, ignoreCase);
    return { source, node: isEmpty(source) ? NOTHING : { kind: "character", source }, isShared: false };
  }

  #single(character: string, ignoreCase: boolean): string {
    if (character === "[") return this.#class(ignoreCase);
    if (character === "\\") return this.#escape(false);
    if (character === ".") return "[^\\n]";
    if (character === "^") return START;
    if (character === "$") return END;
    if ("?*+".includes(character)) throw refusal("a pattern must have something to repeat", this.#pattern);
    return ignoreCase ? bothCases(character) : literal(character);
  }

  #group(ignoreCase: boolean): Translated {
    const opening = /\?(?:[imx]*(?:-[imx]+)?:|<?[=!]|>|<\w+>)|/uy;
    opening.lastIndex = this.#at;
    const kind = opening.exec(this.#pattern)?.[0] ?? "";
    if (kind === "" && this.#pattern[this.#at] === "?")
      throw this.#unsupported(this.#pattern.slice(this.#at - 1, this.#at + 3));
    this.#at += kind.length;
    const flags = /^\?([a-z]*)(-[a-z]+)?:$/u.exec(kind);
    if (flags !== null && !["", "i"].includes(flags[1] ?? "")) throw this.#unsupported(kind);
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw refusal(`groups must be at most ${DEEPEST} deep`, this.#pattern);
    const { source, node, isShared } = this.#alternatives(flags?.[1] === "i" || (ignoreCase && flags?.[2] !== "-i"));
    if (this.#take() !== ")") throw this.#unsupported("(");
    this.#depth -= 1;
    // A matcher does not go back into these.
    if (kind === "?>") return { source: this.#atomic(source), node: { kind: "atomic", part: node }, isShared: false };
    const isLook = /^\?<?[=!]$/u.test(kind);
    if (isLook) return { source: `(${kind}${source})`, node: { kind: "look", part: node }, isShared: false };
    return { source: `(?:${source})`, node, isShared };
  }

  #class(ignoreCase: boolean): string {
    let source = "[";
    if (this.#pattern[this.#at] === "^") source += this.#take();
    const first = this.#at;
    for (;;) {
      const character = this.#take();
      if (character === "]" && this.#at > first + 1) return `${source}]`;
      if (character === "[" || this.#pattern.startsWith("&&", this.#at - 1))
        throw this.#unsupported("a class in a class");
      if (character === "\\") source += this.#escape(true);
      else if (ignoreCase && /[A-Za-z]/u.test(character)) source += this.#letters(character);
      else source += character === "]" ? "\\]" : character;
    }
  }

  /** A letter or a range of them, in both cases. */
  #letters(first: string): string {
    const last = /-([A-Za-z])/uy;
    last.lastIndex = this.#at;
    const end = last.exec(this.#pattern)?.[1];
    if (end === undefined) return bothCases(first).slice(1, -1);
    this.#at += 2;
    const range = `${first}-${end}`;
    return `${range.toLowerCase()}${range.toUpperCase()}`;
  }

  #escape(inClass: boolean): string {
    const character = this.#take();
    const known = CLASSES[character];
    if (known !== undefined && Object.hasOwn(CLASSES, character)) {
      const [contents, isNegated] = known;
      if (!isNegated) return inClass ? contents : `[${contents}]`;
      if (!inClass) return `[^${contents}]`;
      if (contents.startsWith("\\p") && contents.lastIndexOf("\\p") === 0) return contents.replace("\\p", "\\P");
      throw this.#unsupported(`\\${character} in a class`);
    }
    if (character === "p" || character === "P") return this.#property(character);
    if (character === "u" || character === "x") return this.#codePoint(character);
    if (SAME.includes(character) && !(inClass && character === "B")) return `\\${character}`;
    if (/[A-Za-z0-9]/u.test(character)) throw this.#unsupported(`\\${character}`);
    return inClass && character === "-" ? "\\-" : literal(character);
  }

  #property(letter: string): string {
    const name = /\{(\^?)(\w+)\}/uy;
    name.lastIndex = this.#at;
    const [all = "", negated = "", property = ""] = name.exec(this.#pattern) ?? [];
    this.#at += all.length;
    const sign = (negated === "^") !== (letter === "P") ? "P" : "p";
    for (const candidate of [property, `Script=${property}`]) {
      if (isExpression(`\\p{${candidate}}`)) return `\\${sign}{${candidate}}`;
    }
    throw this.#unsupported(`\\${letter}${all}`);
  }

  #codePoint(letter: string): string {
    const digits = letter === "u" ? /([0-9A-Fa-f]{4})/uy : /([0-9A-Fa-f]{1,2})|\{([0-9A-Fa-f]{1,6})\}/uy;
    digits.lastIndex = this.#at;
    const [all, plain, braced] = digits.exec(this.#pattern) ?? [];
    if (all === undefined) throw this.#unsupported(`\\${letter}`);
    this.#at += all.length;
    return `\\u{${plain ?? braced}}`;
  }

  #take(): string {
    const code = this.#pattern.codePointAt(this.#at);
    if (code === undefined) throw refusal("a pattern must be whole", this.#pattern);
    const character = String.fromCodePoint(code);
    this.#at += character.length;
    return character;
  }

  /** JavaScript tries every way to match, of which there may be 2^length, and cannot be interrupted. */
  #endless(): HeedError {
    const rule = "repeats what may match a text in more ways than one, which may take for ever";
    return new HeedError("unsupported", `${WHERE}: pattern ${showValue(this.#pattern)} ${rule}`);
  }

  #unsupported(part: string): HeedError {
    return new HeedError(
      "unsupported",
      `${WHERE}: ${showValue(part)} in pattern ${showValue(this.#pattern)} is not supported`,
    );
  }
}

function bothCases(character: string): string {
  const lower = character.toLowerCase();
  const upper = character.toUpperCase();
  if (lower === upper || lower.length !== upper.length) return literal(character);
  return `[${lower}${upper}${FOLDED[lower] ?? ""}]`;
}

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, "u").source !== "";
  } catch {
    return false;
  }
}
