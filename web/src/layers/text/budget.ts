// How much a file's rules may make of a text: each may grow what the one before it made.

import { HeedError } from "../../api/errors.js";

/** NFKC makes 18 characters of one and an alphabet of bytes 4 of one; beyond that a rule is run some ten times. */
const TIMES = 256;
const FIRST = 2 ** 20;

export class Budget {
  readonly #where: string;
  readonly #length: number;
  #left: number;

  /** `where` is the caller's function, for messages; `length` is that of all that it works on. */
  constructor(where: string, length: number) {
    this.#where = where;
    this.#length = length;
    this.#left = FIRST + TIMES * length;
  }

  /** Characters that a rule is about to write. */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left >= 0) return;
    const rule = `the tokenizer's rules must write at most ${FIRST + TIMES * this.#length} characters`;
    throw new HeedError("memory", `${this.#where}: ${rule} for a text of ${this.#length}, got more`);
  }
}
