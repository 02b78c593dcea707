// Patterns of tokenizer.json, which are Oniguruma's (as Ruby writes them), as regular expressions of JavaScript.

import { showValue } from "../../api/describe.js";
import { causeText, HeedError } from "../../api/errors.js";
import { type Component, refusal, WHERE } from "./component.js";

/** What `pattern: { String } | { Regex }` finds: an expression with the flags g and u. */
export function readPattern(component: Component): RegExp {
  const pattern = component.part("pattern");
  const string = pattern.text("String", undefined);
  if (string !== undefined) return new RegExp(literal(string), "gu");
  const regex = pattern.text("Regex", undefined);
  if (regex === undefined)
    throw refusal(`${component.what}: pattern must be a String or a Regex`, component.get("pattern"));
  return fromOniguruma(regex);
}

/** Text that stands for itself. */
export function literal(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|/]/gu, "\\$&");
}

/** Throws HeedError `unsupported` for what JavaScript has no word for, `load` for what is no pattern. */
export function fromOniguruma(pattern: string): RegExp {
  const source = new Translator(pattern).translate();
  try {
    return new RegExp(source, "gu");
  } catch (cause) {
    throw new HeedError("load", `${WHERE}: ${showValue(pattern)} is no pattern: ${causeText(cause)}`, { cause });
  }
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
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ")") {
      const quantifier = /[?*+]|\{(?:\d+,?\d*|,\d+)\}/uy;
      quantifier.lastIndex = this.#at;
      const found = parts.length > 0 ? quantifier.exec(this.#pattern)?.[0] : undefined;
      if (found === undefined) parts.push(this.#atom(ignoreCase));
      else parts.push(this.#quantified(parts.pop() ?? "", found));
    }
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
    const inner = this.#alternatives(flags?.[1] === "i" || (ignoreCase && flags?.[2] !== "-i"));
    if (this.#take() !== ")") throw this.#unsupported("(");
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
