// Finds patterns for which a backtracking matcher may take exponential time, by the test for exponential ambiguity of automata: the same text
// leads from a state back to it on two paths. Then n repetitions of that text have 2^n paths, and a matcher that fails tries them all.

/** A pattern as the test sees it. */
export type PatternNode =
  | { readonly kind: "character"; readonly source: string }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly part: PatternNode; readonly least: number; readonly most: number }
  /** A group without backtracking, which matches in at most one way at each position. */
  | { readonly kind: "atomic"; readonly part: PatternNode };

/** A part that consumes no text, such as a look-ahead. */
export const NOTHING: PatternNode = { kind: "sequence", parts: [] };

/** A repeated group of more states is refused without a test, which takes the cube of their number. Published ones have about ten. */
const MOST_STATES = 300;

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

/** All characters that a pattern may consume. */
export function charactersIn(node: PatternNode): ReadonlySet<string> {
  if (node.kind === "character") return charactersOf(node.source);
  const parts = "part" in node ? [node.part] : node.parts;
  return new Set(parts.flatMap((part) => [...charactersIn(part)]));
}

export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].some((character) => other.has(character));
}

/** Whether a matcher may take exponential time for this part where it is repeated. */
export function isExponential(part: PatternNode): boolean {
  const automaton = new Automaton();
  automaton.add({ kind: "repeat", part, least: 1, most: Infinity });
  return automaton.size > MOST_STATES || automaton.isExponential();
}

type Counts = ReadonlyMap<number, number>;

/** The paths through a part: how many consume nothing, and how many begin or end with each state. */
interface Paths {
  readonly empty: number;
  readonly first: Counts;
  readonly last: Counts;
}

const NO_STATES: Counts = new Map();
const NO_TEXT: Paths = { empty: 1, first: NO_STATES, last: NO_STATES };

function sum(one: Counts, other: Counts, factor: number): Counts {
  if (factor === 0) return one;
  const total = new Map(one);
  for (const [state, count] of other) total.set(state, (total.get(state) ?? 0) + factor * count);
  return total;
}

/** A state for each character of a pattern (Glushkov's construction), with the number of paths from each state to the next. */
class Automaton {
  readonly #characters: ReadonlySet<string>[] = [];
  readonly #next: Map<number, number>[] = [];
  readonly #atomics = new Set<number>();

  get size(): number {
    return this.#characters.length;
  }

  add(node: PatternNode): Paths {
    if (this.size > MOST_STATES) return NO_TEXT;
    switch (node.kind) {
      case "character":
        return this.#state(charactersIn(node), 0);
      case "sequence":
        return this.#sequence(node.parts);
      case "choice":
        return node.parts
          .map((part) => this.add(part))
          .reduce((all, one) => ({
            empty: all.empty + one.empty,
            first: sum(all.first, one.first, 1),
            last: sum(all.last, one.last, 1),
          }));
      case "repeat":
        return this.#repeat(node.part, node.least, node.most);
      case "atomic":
        return this.#atomic(node.part);
    }
  }

  #state(characters: ReadonlySet<string>, empty: number): Paths {
    const paths = new Map([[this.size, 1]]);
    this.#characters.push(characters);
    this.#next.push(new Map());
    return { empty, first: paths, last: paths };
  }

  #sequence(parts: readonly PatternNode[]): Paths {
    return parts.reduce((all, part) => this.#join(all, this.add(part)), NO_TEXT);
  }

  #join(one: Paths, other: Paths): Paths {
    this.#connect(one.last, other.first);
    return {
      empty: one.empty * other.empty,
      first: sum(one.first, other.first, one.empty),
      last: sum(other.last, one.last, other.empty),
    };
  }

  #connect(from: Counts, to: Counts): void {
    for (const [state, count] of from) {
      const next = this.#next[state];
      for (const [target, paths] of to) next?.set(target, (next.get(target) ?? 0) + count * paths);
    }
  }

  #repeat(part: PatternNode, least: number, most: number): Paths {
    let all = NO_TEXT;
    const rounds = most === Infinity ? least - 1 : least;
    for (let round = 0; round < rounds && this.size <= MOST_STATES; round++) all = this.#join(all, this.add(part));
    if (most === Infinity) return this.#join(all, this.#loop(part, least > 0));
    let rest = NO_TEXT;
    for (let round = least; round < most && this.size <= MOST_STATES; round++) {
      rest = { ...this.#join(this.add(part), rest), empty: 1 };
    }
    return this.#join(all, rest);
  }

  /** Matchers refuse an empty repetition, except for a first one that is required; the second then consumes the text. */
  #loop(part: PatternNode, isNeeded: boolean): Paths {
    const paths = this.add(part);
    this.#connect(paths.last, paths.first);
    const more = { ...paths, empty: 1 };
    if (!isNeeded) return more;
    return paths.empty === 0 ? paths : this.#join(this.add(part), more);
  }

  /** One state for all of the text, because from each position there is at most one path to the end of the part. */
  #atomic(part: PatternNode): Paths {
    const isEmpty = new Automaton().add(part).empty > 0;
    this.#atomics.add(this.size);
    const paths = this.#state(charactersIn(part), isEmpty ? 1 : 0);
    this.#connect(paths.first, paths.first);
    return paths;
  }

  isExponential(): boolean {
    const loops = this.#loops();
    for (const [state, next] of loops.entries()) {
      const isTwice = (to: number): boolean =>
        (this.#next[state]?.get(to) ?? 0) > 1 && !(to === state && this.#atomics.has(state));
      if (next.some(isTwice)) return true;
    }
    return this.#meetAgain(loops);
  }

  /** Whether two paths with the same text leave a state of a loop and meet again. */
  #meetAgain(loops: readonly (readonly number[])[]): boolean {
    const overlaps = this.#characters.map((one) => this.#characters.map((other) => overlap(one, other)));
    const seen = new Set<number>();
    const pairs = Array.from({ length: this.size }, (_, state) => [state, state] as const);
    for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
      const [one, other] = pair;
      for (const a of loops[one] ?? []) {
        for (const b of loops[other] ?? []) {
          if (a === b && one !== other) return true;
          const key = a * this.size + b;
          if (a === b || !overlaps[a]?.[b] || seen.has(key)) continue;
          seen.add(key);
          pairs.push([a, b]);
        }
      }
    }
    return false;
  }

  /** For each state, the next states that lead back to it. */
  #loops(): readonly (readonly number[])[] {
    const reached = this.#next.map((_, state) => this.#reachedFrom(state));
    return this.#next.map((next, state) => [...next.keys()].filter((to) => reached[to]?.has(state)));
  }

  #reachedFrom(state: number): ReadonlySet<number> {
    const reached = new Set<number>();
    const open = [state];
    for (let from = open.pop(); from !== undefined; from = open.pop()) {
      for (const to of this.#next[from]?.keys() ?? []) {
        if (reached.has(to)) continue;
        reached.add(to);
        open.push(to);
      }
    }
    return reached;
  }
}
