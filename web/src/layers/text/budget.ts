// A limit on the text that a file's rules may write, because each rule may grow the result of the one before it.

import { HeedError } from "../../base/errors.js";

/** NFKC makes up to 18 characters of one, and the byte alphabet 4. The rest is for about ten such rules. */
const TIMES = 256;
const FIRST = 2 ** 20;

export class Budget {
  readonly #where: string;
  readonly #length: number;
  #left: number;

  /** `where` names the caller's function in messages. `length` is that of its whole input. */
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
