// Patterns of tokenizer.json, which are Oniguruma's (as Ruby writes them), as regular expressions of JavaScript.

import { showValue } from "../../api/describe.js";
import { causeText, HeedError } from "../../api/errors.js";
import { type Component, refusal, WHERE } from "./component.js";

/** What `pattern: { String } | { Regex }` finds: an expression with the flags g and u. */
export function readPattern(component: Component): RegExp {
  const pattern = component.part("pattern");
  const string = pattern.text("String", undefined);
  if (string !== undefined) return exactly(string);
  const regex = pattern.text("Regex", undefined);
  if (regex === undefined)
    throw refusal(`${component.what}: pattern must be a String or a Regex`, component.get("pattern"));
  return fromOniguruma(regex);
}

/** Finds a text itself. */
export function exactly(text: string): RegExp {
  checkLength(text);
  return new RegExp(literal(text), "gu");
}

function checkLength(pattern: string): void {
  if (pattern.length > LONGEST) throw refusal(`a pattern must have at most ${LONGEST} characters`, pattern.length);
}

/** Text that stands for itself. */
export function literal(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|/]/gu, "\\$&");
}

/** The longest that are published have some 500 characters, in groups that are two or three deep. */
const LONGEST = 4096;
const DEEPEST = 32;

/** Throws HeedError `unsupported` for what JavaScript has no word for, `load` for what is no pattern. */
export function fromOniguruma(pattern: string): RegExp {
  checkLength(pattern);
  const source = new Translator(pattern).translate();
  try {
    return new RegExp(source, "gu");
  } catch (cause) {
    throw new HeedError("load", `${WHERE}: ${showValue(pattern)} is no pattern: ${causeText(cause)}`, { cause });
  }
}

/** A part of a group, and what a quantifier says of it. */
interface Atom {
  readonly source: string;
  readonly isGroup: boolean;
  readonly isLoose: boolean;
  varies: boolean;
  isEndless: boolean;
  isOptional: boolean;
}

/** Whether repetitions share characters, and what follows may fail: then each place where one could end is tried with each of the next. */
function areEntangled(atoms: readonly Atom[]): boolean {
  let endless: Atom[] = [];
  let areShared = false;
  for (const atom of atoms) {
    if (atom.source === "|") [endless, areShared] = [[], false];
    else if (areShared && !atom.isOptional) return true;
    else if (atom.isGroup) continue;
    else if (atom.isEndless) {
      areShared ||= endless.some((one) => !areApart(one, atom));
      endless.push(atom);
    } else if (!atom.isOptional) endless = endless.filter((one) => !areApart(one, atom));
  }
  return false;
}

/** Whether, repeated, these parts may match a text in several ways: unless the first or last of them shows where one begins or ends. */
function isLoose(atoms: readonly Atom[]): boolean {
  if (atoms.some((atom) => atom.isLoose || atom.source === "|")) return true;
  const varying = atoms.filter(({ varies }) => varies);
  const shows = (edge: Atom | undefined): boolean =>
    edge !== undefined && !edge.isGroup && !edge.varies && varying.every((one) => !one.isGroup && areApart(edge, one));
  return varying.length > 0 && !shows(atoms[0]) && !shows(atoms.at(-1));
}

/** Characters of every kind that patterns tell apart. */
const SAMPLES = [
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)),
  ..."\u01c5\u02b0\u0301\u0660\u0903\u0e01\u2028\u2160\u3000\u3042\u4e00\uac00\ufeff\u{1f600}",
];

/** Whether no character is both. */
function areApart(one: Atom, other: Atom): boolean {
  const [a, b] = [one, other].map(({ source }) => new RegExp(`^(?:${source})$`, "u"));
  return !SAMPLES.some((sample) => a?.test(sample) && b?.test(sample));
}

// Unicode's spaces: JavaScript's own \s has a byte order mark more and U+0085 less.
const SPACE = "\\p{White_Space}";
const WORD = "\\p{L}\\p{M}\\p{Nd}\\p{Pc}";

/** Escapes by their contents as a class, and whether it is what they do not match. */
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

/** Escapes that mean the same in both. */
const SAME = "nrtfvbB";

/** Letters that fold to a letter beside its other case. */
const FOLDED: Readonly<Record<string, string>> = { s: "\u017f", k: "\u212a" };

/** Goes through a pattern once, a part at a time; parts are kept so that the last one is known when a quantifier asks for it. */
class Translator {
  readonly #pattern: string;
  #at = 0;
  #atomics = 0;
  #depth = 0;
  /** Of the group that was read last: whether it may match the same text in more ways than one. */
  #isLoose = false;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  translate(): string {
    const source = this.#alternatives(false);
    if (this.#at < this.#pattern.length) throw this.#unsupported(")");
    return source;
  }

  /** Up to the end, or the bracket that closes the group. */
  #alternatives(ignoreCase: boolean): string {
    const parts: string[] = [];
    const atoms: Atom[] = [];
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ")") {
      const quantifier = /[?*+]|\{(?:\d+,?\d*|,\d+)\}/uy;
      quantifier.lastIndex = this.#at;
      const found = parts.length > 0 ? quantifier.exec(this.#pattern)?.[0] : undefined;
      const last = atoms.at(-1);
      if (found === undefined) {
        const isGroup = this.#pattern[this.#at] === "(";
        this.#isLoose = false;
        const source = this.#atom(ignoreCase);
        parts.push(source);
        atoms.push({ source, isGroup, isLoose: this.#isLoose, varies: false, isEndless: false, isOptional: false });
      } else {
        if (last?.isLoose === true && /[*+,]|\{(?![01]\})/u.test(found)) throw this.#endless();
        if (last !== undefined) {
          last.varies = !/^\{\d+\}$/u.test(found);
          last.isEndless = /[*+]|,\}/u.test(found);
          last.isOptional = /^(?:[*?]|\{0?,)/u.test(found);
        }
        parts.push(this.#quantified(parts.pop() ?? "", found));
      }
    }
    if (areEntangled(atoms)) throw this.#endless();
    this.#isLoose = isLoose(atoms);
    return parts.join("");
  }

  #quantified(atom: string, written: string): string {
    this.#at += written.length;
    const quantifier = written.replace("{,", "{0,");
    const next = this.#pattern[this.#at];
    if (next === "?") {
      this.#at += 1;
      return `${atom}${quantifier}?`;
    }
    // Possessive, but after braces, where it repeats the repetition.
    if (next === "+" && quantifier.length === 1) {
      this.#at += 1;
      return this.#atomic(`${atom}${quantifier}`);
    }
    return next === "+" ? `(?:${atom}${quantifier})` : `${atom}${quantifier}`;
  }

  /** Once it has matched, nothing of it is given back: what a look ahead found stays found. */
  #atomic(source: string): string {
    const name = `a${this.#atomics++}`;
    return `(?:(?=(?<${name}>${source}))\\k<${name}>)`;
  }

  #atom(ignoreCase: boolean): string {
    const character = this.#take();
    if (character === "(") return this.#group(ignoreCase);
    if (character === "[") return this.#class(ignoreCase);
    if (character === "\\") return this.#escape(false);
    if (character === ".") return "[^\\n]";
    if (character === "^") return "(?<![^\\n])";
    if (character === "$") return "(?![^\\n])";
    if (character === "|") return "|";
    if ("?*+".includes(character)) throw refusal("a pattern must have something to repeat", this.#pattern);
    return ignoreCase ? bothCases(character) : literal(character);
  }

  #group(ignoreCase: boolean): string {
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
    const inner = this.#alternatives(flags?.[1] === "i" || (ignoreCase && flags?.[2] !== "-i"));
    if (this.#take() !== ")") throw this.#unsupported("(");
    this.#depth -= 1;
    // What has matched once is not taken apart again.
    if (/^\?(?:>|<?[=!])$/u.test(kind)) this.#isLoose = false;
    if (kind === "?>") return this.#atomic(inner);
    return /^\?<?[=!]$/u.test(kind) ? `(${kind}${inner})` : `(?:${inner})`;
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

  /** JavaScript tries every way to take a text apart, of which there may be 2^length, and nothing can stop it. */
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
