// The numbers of parameters. Parameters that are loaded from the same numbers are tied, and share them.

import type { Resident, RootBackend } from "../backends/backend.js";
import { HeedError } from "../base/errors.js";
import { collectSoon } from "./collect-soon.js";
import type { AnyTensor } from "./formats/stored.js";

/** A parameter that has these numbers. */
export interface Keeper {
  /** Whether it has them in an engine's memory, where nothing changes them. */
  readonly keeps: boolean;
  /** A copy of them from there; null where they cannot be read. */
  recall(): Float32Array | null;
  /** Where they lie in the memory of this engine in their order; null: nowhere. */
  plainIn(root: RootBackend): Resident | null;
}

/** Those of arrays that are still there, by buffer and place. */
const KNOWN = new WeakMap<ArrayBufferLike, Map<string, Numbers>>();

/** An array, until all keepers have it in an engine. From then on it is read back when it is needed. */
export class Numbers {
  readonly format = "f32";
  #array: Float32Array | null = null;
  /** Its rows as they arrive, until an engine takes them. */
  #arriving: AsyncIterable<AnyTensor> | null = null;
  /** The array that was given or read back last, which others may still have. */
  #seen: WeakRef<Float32Array> | null = null;
  /** Weak, because a layer that nobody disposes of goes all the same. */
  readonly #keepers = new Set<WeakRef<Keeper>>();

  /** Those of an array, which is not copied. */
  static of(array: Float32Array): Numbers {
    const numbers = KNOWN.get(array.buffer)?.get(placeOf(array)) ?? new Numbers();
    numbers.#array = numbers.#know(array);
    return numbers;
  }

  /** Numbers of a tensor that arrives in pieces. The first keeper that is uploaded takes them. */
  static arriving(pieces: AsyncIterable<AnyTensor>): Numbers {
    const numbers = new Numbers();
    numbers.#arriving = pieces;
    return numbers;
  }

  /** Gives the pieces, once; null where there are none. */
  pieces(): AsyncIterable<AnyTensor> | null {
    const pieces = this.#arriving;
    this.#arriving = null;
    return pieces;
  }

  join(keeper: WeakRef<Keeper>): void {
    this.#keepers.add(keeper);
  }

  leave(keeper: WeakRef<Keeper>): void {
    this.#keepers.delete(keeper);
  }

  /** Whether JavaScript has the array. */
  get isHeld(): boolean {
    return this.#array !== null;
  }

  /** The array, or one that is read back. `where` names the parameter. */
  read(where: string): Float32Array {
    const known = this.#array ?? this.#seen?.deref();
    if (known !== undefined) return known;
    for (const keeper of this.#all()) {
      const array = keeper.recall();
      if (array !== null) return this.#know(array);
    }
    throw new HeedError("disposed", `${where} was in the memory of an engine that is disposed of`);
  }

  /** Keeps the array, because what the engine has is going to change. */
  hold(where: string): void {
    this.#array = this.read(where);
  }

  /** Gives the array up if every keeper has it in an engine. */
  settle(): void {
    if (this.#array === null || this.#all().some(({ keeps }) => !keeps)) return;
    collectSoon(this.#array.byteLength);
    this.#array = null;
  }

  plainIn(root: RootBackend): Resident | null {
    for (const keeper of this.#all()) {
      const resident = keeper.plainIn(root);
      if (resident !== null) return resident;
    }
    return null;
  }

  /** Makes them known under an array, so that what is loaded from it is tied to them. */
  #know(array: Float32Array): Float32Array {
    const places = KNOWN.get(array.buffer) ?? new Map<string, Numbers>();
    KNOWN.set(array.buffer, places.set(placeOf(array), this));
    this.#seen = new WeakRef(array);
    return array;
  }

  #all(): Keeper[] {
    return [...this.#keepers].flatMap((one) => one.deref() ?? []);
  }
}

function placeOf({ byteOffset, length }: Float32Array): string {
  return `${byteOffset}:${length}`;
}
