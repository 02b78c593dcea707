// In how many ways a part of a pattern can match. A backtracking matcher that fails tries them all, and cannot be interrupted.

/** A pattern as the tests see it. */
export type PatternNode =
  | { readonly kind: "character"; readonly source: string }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly part: PatternNode; readonly least: number; readonly most: number }
  /** A group without backtracking, which matches in at most one way at each position. */
  | { readonly kind: "atomic"; readonly part: PatternNode }
  /** A look-ahead or a look-behind, which consumes nothing. */
  | { readonly kind: "look"; readonly part: PatternNode };

/** A part that consumes no text, such as the end of a line. */
export const NOTHING: PatternNode = { kind: "sequence", parts: [] };

/** A repeated group of more characters is refused without a test, which takes the square of their number. Published ones have about ten. */
const MOST_STATES = 100;

/** Characters of every class that patterns distinguish. */
const SAMPLES = [
  ...Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)),
  ..."\u01c5\u02b0\u0301\u0660\u0903\u0e01\u2028\u2160\u3000\u3042\u4e00\uac00\ufeff\u{1f600}",
];

/** The samples in a class of characters, and the class itself, which may contain none of them. */
function charactersOf(source: string): ReadonlySet<string> {
  const expression = new RegExp(`^(?:${source})$`, "u");
  return new Set([...SAMPLES.filter((sample) => expression.test(sample)), source]);
}

/** All characters that a pattern may read. */
export function charactersIn(node: PatternNode): ReadonlySet<string> {
  if (node.kind === "character") return charactersOf(node.source);
  const parts = "part" in node ? [node.part] : node.parts;
  return new Set(parts.flatMap((part) => [...charactersIn(part)]));
}

export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].some((character) => other.has(character));
}

/** At most so many characters or alternatives are tried from one position; Infinity where their number grows with the text. */
export function triesOf(node: PatternNode): number {
  switch (node.kind) {
    case "character":
      return 1;
    case "atomic":
    case "look":
      return triesOf(node.part);
    case "sequence":
      return node.parts.reduce((tries, part) => tries * triesOf(part), 1);
    case "choice":
      return node.parts.reduce((tries, part) => tries + triesOf(part), 0);
    case "repeat":
      return node.most > 1 ? node.most * triesOf(node.part) : triesOf(node.part) + node.most - node.least;
  }
}

/** Whether a part that is repeated may match the same text in two ways: n repetitions then have 2^n. */
export function isAmbiguous(part: PatternNode): boolean {
  return new Automaton().isAmbiguous({ kind: "repeat", part, least: 0, most: Infinity });
}

/** A character of a pattern, and those that may come after it. */
interface State {
  readonly characters: ReadonlySet<string>;
  readonly next: State[];
}

/** Where the texts of a part begin and end. */
interface Ends {
  readonly isEmpty: boolean;
  readonly first: readonly State[];
  readonly last: readonly State[];
}

const NO_TEXT: Ends = { isEmpty: true, first: [], last: [] };

/** Glushkov's automaton: a state for each character. A part has one way where no two of the characters that may come next overlap. */
class Automaton {
  readonly #states: State[] = [];
  #isAmbiguous = false;

  isAmbiguous(node: PatternNode): boolean {
    const { first } = this.#add(node);
    const nexts = [first, ...this.#states.map(({ next }) => next)];
    return this.#isAmbiguous || nexts.some(doOverlap);
  }

  #add(node: PatternNode): Ends {
    if (this.#states.length > MOST_STATES) this.#isAmbiguous = true;
    if (this.#isAmbiguous) return NO_TEXT;
    switch (node.kind) {
      case "character":
        return this.#state(node, []);
      case "look":
        return NO_TEXT;
      case "sequence":
        return node.parts.reduce((before, part) => this.#join(before, this.#add(part)), NO_TEXT);
      case "choice":
        return this.#choice(node.parts.map((part) => this.#add(part)));
      case "repeat":
        return this.#repeat(node.part, node.least, node.most);
      case "atomic":
        return this.#atomic(node.part);
    }
  }

  #state(node: PatternNode, next: readonly State[]): Ends {
    const state = { characters: charactersIn(node), next: [...next] };
    this.#states.push(state);
    return { isEmpty: false, first: [state], last: [state] };
  }

  #join(one: Ends, other: Ends): Ends {
    for (const { next } of one.last) next.push(...other.first);
    return {
      isEmpty: one.isEmpty && other.isEmpty,
      first: one.isEmpty ? [...one.first, ...other.first] : one.first,
      last: other.isEmpty ? [...other.last, ...one.last] : other.last,
    };
  }

  #choice(parts: readonly Ends[]): Ends {
    // Two parts that match nothing are two ways to do so.
    if (parts.filter(({ isEmpty }) => isEmpty).length > 1) this.#isAmbiguous = true;
    return {
      isEmpty: parts.some(({ isEmpty }) => isEmpty),
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
    };
  }

  /** Two copies show what a part that is repeated exactly may come after, and a loop what any other may. */
  #repeat(part: PatternNode, least: number, most: number): Ends {
    if (most === 0) return NO_TEXT;
    const made = this.#add(part);
    // The first repetition may match nothing, or the second.
    if (most > 1 && made.isEmpty) this.#isAmbiguous = true;
    if (most > 1 && least === most) return this.#join(made, this.#add(part));
    if (most > 1) this.#join(made, made);
    return { ...made, isEmpty: made.isEmpty || least === 0 };
  }

  /** One state for all of the text, because from each position there is at most one path to the end of the part. */
  #atomic(part: PatternNode): Ends {
    const inner = new Automaton().#add(part);
    return { ...this.#state(part, []), isEmpty: inner.isEmpty };
  }
}

function doOverlap(states: readonly State[]): boolean {
  return states.some((one, at) => states.slice(at + 1).some((other) => overlap(one.characters, other.characters)));
}
