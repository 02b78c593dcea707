// What train does with evaluations: it keeps the best checkpoint, and stops where nothing gets better.

import { showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { readBoolean, readCount, refusal } from "../../base/read-values.js";
import { readAtLeastZero, readCopy, readSize } from "../../layers/read.js";

/** The best evaluation of a training. */
export interface Best {
  /** How many steps had been taken. */
  readonly step: number;
  readonly value: number;
  /** Its checkpoint, which `loadCheckpoint` takes. */
  readonly file: Uint8Array<ArrayBuffer>;
}

export class Evaluation {
  readonly every: number;
  readonly run: (model: never, step: number) => unknown;
  best: Best | undefined;
  readonly #patience: number;
  readonly #minDelta: number;
  readonly #sign: number;
  #without = 0;

  constructor(where: string, options: unknown) {
    const called = `${where}: evaluation`;
    const given = readCopy(where, "evaluation", options, ["every", "run", "patience", "minDelta", "larger"]);
    this.every = readSize(called, "every", given["every"]);
    if (typeof given["run"] !== "function") throw refusal(called, "run", "a function", given["run"]);
    this.run = given["run"] as Evaluation["run"];
    this.#patience = readCount(called, "patience", given["patience"], Number.POSITIVE_INFINITY);
    this.#minDelta = readAtLeastZero(called, "minDelta", given["minDelta"], 0);
    this.#sign = readBoolean(called, "larger", given["larger"], false) ? -1 : 1;
  }

  /** Takes a value, and saves where it is the best. Returns whether to stop. */
  async take(value: unknown, step: number, save: () => Promise<Uint8Array<ArrayBuffer>>): Promise<boolean> {
    if (typeof value !== "number") {
      throw new HeedError("option", `train: evaluation.run must return a number, got ${showValue(value)}`);
    }
    const gain = this.best === undefined ? Number.POSITIVE_INFINITY : this.#sign * (this.best.value - value);
    // NaN is better than nothing, and worse than any number.
    const isBetter = Number.isNaN(this.best?.value) ? !Number.isNaN(value) : gain > this.#minDelta;
    if (isBetter) this.best = { step, value, file: await save() };
    this.#without = isBetter ? 0 : this.#without + 1;
    return this.#without >= this.#patience;
  }
}
