// The calls of a program for a worker with its own memory, where their results stay. What the engine has, it is sent once.

import { HeedError } from "../../base/errors.js";
import { MAX_BLOCK_BYTES } from "../../memory/arena.js";
import type { Span } from "../backend.js";
import { Batch, BatchedCalls } from "./batched-calls.js";
import type { BufferPart, ResidentBuffers } from "./cached-buffers.js";
import type { CallBlock } from "./call-block.js";
import type { Compute } from "./calls.js";
import { SMALL_BYTES } from "./cost.js";
import { type Job, JobBuilder } from "./job.js";
import type { Kernels } from "./kernels.js";
import type { Ladder } from "./ladder.js";
import type { Place } from "./place.js";
import type { Caller } from "./prepared.js";
import type { Range } from "./protocol.js";
import type { Member, Remote } from "./remote.js";
import type { WasmResident } from "./resident.js";
import type { CachedBuffer, Shard } from "./shard.js";
import { WorkerLost } from "./worker-link.js";

/** The most calls in a batch. */
const MOST_CALLS = 1024;

class RemoteBatch extends Batch {
  readonly block: CallBlock;
  /** What of the engine it reads, and what it uploads. */
  readonly buffers = new Set<CachedBuffer>();
  readonly made: number[] = [];
  readonly freed: number[] = [];

  constructor(block: CallBlock) {
    super();
    this.block = block;
  }

  /** Makes room for a call and its arrays. */
  reserve({ inputBytes }: Job): void {
    const { bytes, end } = this.block;
    if (end + inputBytes <= bytes.length) return;
    this.block.bytes = new Uint8Array(Math.max(2 * bytes.length, end + inputBytes));
    this.block.bytes.set(bytes);
  }
}

export class RemoteCalls extends BatchedCalls<RemoteBatch> implements Place {
  readonly #kernels: Kernels;
  readonly #runner: Remote;
  readonly #buffers: ResidentBuffers;
  readonly #member: Member;
  /** The numbers of freed buffers that the worker has not been told of. */
  readonly #freed = new Set<number>();
  /** What brings back what calls have changed of the engine's residents. */
  #back: Promise<void> = Promise.resolve();
  /** What calls change, and nothing brings back yet. */
  #changes: (readonly [WasmResident, readonly Span[]])[] = [];

  constructor(kernels: Kernels, runner: Remote, compute: Compute) {
    super(compute, MOST_CALLS);
    this.#kernels = kernels;
    this.#runner = runner;
    this.#buffers = runner.buffers;
    const [member] = runner.members;
    if (member === undefined) throw lostError(runner.lost);
    this.#member = member;
    member.tenants.add(this);
  }

  make(resident: WasmResident): void {
    const { bytes } = resident;
    if (bytes > MAX_BLOCK_BYTES)
      throw new HeedError("memory", `heed: a worker's memory has no room for ${bytes} bytes`);
    resident.away = this.#member.link;
  }

  upload(resident: WasmResident, data: Float32Array): void {
    this.make(resident);
    const { buffer } = new Float32Array(data);
    const { id } = wholeOf(this.#buffers, resident);
    this.batchFor(0).buffers.add({ id, version: 0, changes: () => [], bytes: () => buffer });
  }

  add(job: Job, multiplications: number): void {
    const { call, inputs, residents, outputs, made } = job;
    const batch = this.batchFor(multiplications);
    const parts: BufferPart[] = [];
    for (const { word, resident } of residents) {
      const buffer = wholeOf(this.#buffers, resident);
      parts.push({ word, buffer, offset: 0 });
      if (resident.away === null) batch.buffers.add(buffer);
    }
    for (const part of outputs) {
      const resident = made.get(part);
      if (resident === undefined) throw new TypeError("the results of a program's calls stay in the engine");
      const buffer = wholeOf(this.#buffers, resident);
      parts.push({ word: part.word, buffer, offset: 0 });
      // A buffer of no bytes would be one to free.
      batch.block.steps.push(buffer.id, Math.max(1, resident.bytes));
      batch.made.push(buffer.id);
    }
    batch.reserve(job);
    batch.block.call(call, inputs, parts, []);
    batch.add(multiplications);
    this.handOn();
  }

  free(resident: WasmResident): void {
    if (resident.address !== 0) this.#kernels.release(resident.address);
    const batch = this.batchFor(0);
    for (const id of this.#buffers.forget(resident)) {
      batch.block.steps.push(id, 0);
      batch.freed.push(id);
      this.#freed.add(id);
    }
  }

  move(from: WasmResident, to: WasmResident): void {
    this.#buffers.move(from, to);
    to.away = from.away;
    if (to.away !== null) this.#member.tenants.add(to);
  }

  changed(resident: WasmResident, spans: readonly Span[]): void {
    this.#changes.push([resident, spans]);
  }

  override async settled(): Promise<void> {
    await super.settled();
    await this.#back.catch(() => {});
  }

  bringBack(): Promise<void> {
    const back = this.#back.then(() => this.#bringChanges());
    this.#back = back.catch(() => {});
    return back;
  }

  async #bringChanges(): Promise<void> {
    const { stored } = this.#member;
    // A call that was not recorded after all has changed nothing.
    const changes = this.#changes.filter(([resident]) => stored.has(wholeOf(this.#buffers, resident).id));
    this.#changes = [];
    if (changes.length === 0) return;
    const parts = changes.flatMap(([resident, spans]) => spans.map((span) => ({ resident, ...span })));
    const arrays = await read(this.#runner, this.#member, parts);
    for (const [at, { resident, from, bytes }] of parts.entries()) {
      this.#kernels.heap.bytes(resident.address + from, bytes).set(new Uint8Array(arrays[at] ?? new ArrayBuffer(0)));
    }
    for (const [resident, spans] of changes) {
      const whole = wholeOf(this.#buffers, resident);
      // Others that hold the page are to be sent it. After too many changes this worker is too.
      this.#runner.forget(resident, spans);
      if (stored.has(whole.id)) stored.set(whole.id, whole.version);
    }
  }

  release(): void {}

  dispose(): void {
    // Of batches that were dropped.
    this.#runner.drop([...this.#freed]);
    // The worker has what calls changed that do not count.
    for (const [resident, spans] of this.#changes) this.#runner.forget(resident, spans);
    this.#member.tenants.delete(this);
  }

  protected empty(): RemoteBatch {
    return new RemoteBatch(this.#runner.block());
  }

  protected jobOf({ block, buffers, made, freed }: RemoteBatch): Job {
    const { link, stored } = this.#member;
    const message = (): ReturnType<Shard["message"]> => {
      for (const id of made) stored.set(id, 0);
      for (const id of freed) {
        stored.delete(id);
        this.#freed.delete(id);
      }
      return { ...block.message([]), block: block.bytes.slice(0, block.end).buffer };
    };
    return jobFor({ affinity: 0, only: link, buffers, message, take: () => {} });
  }
}

/** A job that a worker computes. So many bytes are never computed on the calling thread. */
function jobFor(shard: Shard): Job {
  return { ...new JobBuilder("heed/layers", new Int32Array(1)).build(), bytes: 2 * SMALL_BYTES, shard };
}

/** Waits for a worker where the only one is being replaced. Where there will be none, the engine has gone on by then. */
export async function untilWorker(caller: Caller, ladder: Ladder, signal: AbortSignal | null): Promise<void> {
  const { remote } = ladder.current("heed/layers").runner;
  const job = jobFor({ affinity: 0, buffers: new Set(), message: () => nothing([]), take: () => {} });
  const begin = (): void => {
    if (ladder.open?.runner.remote !== remote) throw lostError();
  };
  try {
    await caller.compute("heed/layers", signal, () => ({ job, module: "core", multiplications: 0, begin }));
  } catch (error) {
    if (!(error instanceof HeedError) || error.code !== "device-lost") throw error;
  }
}

/** Brings residents that a worker has alone to the engine's memory. Those that are lost with it are left where the engine moves, and told when they are needed. */
export async function bring(ladder: Ladder, residents: Iterable<WasmResident>, isMoving = false): Promise<void> {
  if (isMoving && ladder.disposed) return;
  const { kernels, runner } = ladder.current("heed");
  const { remote } = runner;
  const away = [...residents].filter((one) => one.live && one.away !== null && !(isMoving && one.away.lost !== null));
  const link = away[0]?.away;
  if (!link || (isMoving && kernels.abandoned)) return;
  const member = remote?.members.find((one) => one.link === link);
  if (remote === undefined || member === undefined) throw lostError(link.lost);
  const parts = away.map((resident) => ({ resident, from: 0, bytes: resident.bytes }));
  const arrays = await read(remote, member, parts).catch((error: unknown) => {
    ladder.current("heed");
    // The engine has moved meanwhile, and brought them along.
    if (away.every((one) => one.away === null)) return [];
    throw error;
  });
  for (const [at, resident] of away.entries()) {
    if (!resident.live || resident.away === null) continue;
    resident.address = kernels.upload(resident.bytes, () => new Uint8Array(arrays[at] ?? new ArrayBuffer(0)));
    resident.away = null;
    member.tenants.delete(resident);
  }
}

/** Bytes of residents as a worker has them. */
async function read(
  runner: Remote,
  member: Member,
  parts: readonly (Span & { readonly resident: WasmResident })[],
): Promise<readonly ArrayBuffer[]> {
  const outputs = parts.map(
    ({ resident, from, bytes }) => [wholeOf(runner.buffers, resident).id, from, bytes] as const,
  );
  try {
    return await runner.request(member, { ...nothing(outputs), buffers: [] }, "heed");
  } catch (error) {
    throw error instanceof WorkerLost ? lostError(error) : error;
  }
}

/** A message without a call. */
function nothing(outputs: readonly Range[]): ReturnType<Shard["message"]> {
  return { kind: "block", block: new ArrayBuffer(0), bytes: 0, steps: new Int32Array(0), outputs };
}

const wholeOf = (buffers: ResidentBuffers, resident: WasmResident): CachedBuffer =>
  buffers.of(resident, 0, resident.bytes);

export function lostError(lost?: WorkerLost | null): HeedError {
  const why = lost ? `: ${lost.message}` : "";
  return new HeedError("device-lost", `heed: numbers were in the memory of a worker that is lost${why}`);
}
