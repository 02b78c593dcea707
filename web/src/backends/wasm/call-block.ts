// Calls as a worker with its own memory takes them: one block with the packed calls and their arrays, and the steps that say in which
// order to compute them, where their addresses go, and what memory is made and freed between them.

import { HeedError } from "../../base/errors.js";
import { bytesIn } from "../../memory/heap-view.js";
import type { BufferPart } from "./cached-buffers.js";
import { aligned, type InputPart } from "./job.js";
import type { BlockMessage, Range } from "./protocol.js";

export class CallBlock {
  /** What has to be sent. */
  bytes: Uint8Array<ArrayBuffer>;
  /** What is taken, outputs included. */
  end = 0;
  /** As a message has them. */
  readonly steps: number[] = [];

  constructor(operation: string, room: number) {
    this.bytes = roomFor(operation, room, () => new Uint8Array(room));
  }

  /** Adds a call with its arrays, for which there must be room. Returns where its outputs will be. */
  call(
    call: Int32Array,
    inputs: readonly InputPart[],
    buffers: readonly BufferPart[],
    outputs: readonly (readonly [word: number, bytes: number])[],
  ): readonly Range[] {
    const { steps } = this;
    const start = this.#put(bytesIn(call));
    steps.push(0, start, inputs.length + buffers.length + outputs.length);
    for (const { word, bytes, of, offset } of inputs) {
      const place = of === "table" ? start + offset : this.#put(bytes);
      // A slice may begin within an array.
      steps.push(word, 0, (call[word] ?? 0) + place);
    }
    for (const { word, buffer, offset } of buffers) steps.push(word, buffer.id, offset);
    return outputs.map(([word, bytes]) => {
      const place = this.#take(bytes);
      steps.push(word, 0, place);
      return [0, place, bytes];
    });
  }

  message(outputs: readonly Range[]): Omit<BlockMessage, "buffers"> {
    return { kind: "block", block: this.bytes.buffer, bytes: this.end, steps: Int32Array.from(this.steps), outputs };
  }

  #put(bytes: Uint8Array): number {
    const place = this.#take(bytes.length);
    this.bytes.set(bytes, place);
    return place;
  }

  #take(bytes: number): number {
    const place = this.end;
    this.end = aligned(place + bytes);
    return place;
  }
}

export function roomFor<T>(operation: string, bytes: number, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new HeedError("memory", `${operation}: no room for a copy of ${bytes} bytes`, { cause });
  }
}
