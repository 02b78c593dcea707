// The KV cache behind createCache: it reads options, keeps calls in order, and appends to pages that attention then reads.
/// <reference lib="esnext.disposable" preserve="true" />

import type { AttentionProblem, Backend, Computed, Computer, Dims4, Operand, Pages } from "../../backends/backend.js";
import { showShape, showValue } from "../../base/describe.js";
import { HeedError } from "../../base/errors.js";
import { guard, guardAsync } from "../../base/guard.js";
import { isOptions, readChoice, readCount, readRecord, readSignal, throwIfAborted } from "../../base/read-values.js";
import { numbersOf, plainDType } from "../../base/typed-array.js";
import { DISPOSE, finalise, unfinalise } from "../../memory/disposable.js";
import { APPEND, type AppendProblem } from "../../operations/append.js";
import { attentionResults } from "../../operations/attention.js";
import { PAGED_ATTENTION, type PagedProblem } from "../../operations/paged-attention.js";
import { registerCache } from "../cache-registry.js";
import { type CacheLock, type HeldCache, type KVCache, LOCK } from "../cache-types.js";
import { type Arguments, hold } from "../hold.js";
import type { GivenTensors, Layout, Numbers, TensorInput } from "../inputs.js";
import { readLayout, viewOf } from "../layout.js";
import { checkRoom, readTensor, readTensors } from "../operands.js";
import { type ReadOptions, readAttentionOptions } from "../read-options.js";
import { type AnyAttentionResult, resultOf } from "../results.js";
import { type CheckedAttention, validateAttention } from "../validate.js";
import { Mutex } from "./mutex.js";
import { PageLayout, type PagePart } from "./page-layout.js";
import { PageStore, type Staged } from "./page-store.js";

/** Keys and values to be appended, in [batch, heads, length, dim]. */
type NewRows = Pick<AttentionProblem, "key" | "value">;

const NAMES = ["batch", "kvHeads", "headDim", "valueDim", "maxLength", "dtype", "window"];

/** Positions are exact in f32 up to here. */
const MOST_TOKENS = 2 ** 24;

/** Each batch entry has a page table from the start. */
const MOST_ENTRIES = 2 ** 16;

/** The options of createCache, checked, with defaults filled in. */
type ReadCacheOptions = Pick<KVCache, "batch" | "kvHeads" | "headDim" | "valueDim" | "maxLength" | "dtype" | "window">;

export async function createCache(backend: Backend, _: readonly unknown[], options: unknown): Promise<KVCache> {
  const read = guard("option", "createCache: reading its options", () => readCacheOptions(options));
  return new PagedCache(backend, read);
}

function readCacheOptions(options: unknown): ReadCacheOptions {
  const where = "createCache";
  const given = readRecord(where, "options", options, NAMES);
  const needed = (name: string, most?: number): number => {
    const count = readCount(where, name, given[name], null, most);
    if (count !== null) return count;
    throw new HeedError("option", `${where}: ${name} must be given`);
  };
  const headDim = needed("headDim");
  const window = readCount(where, "window", given["window"], null);
  const maxLength =
    window === null
      ? needed("maxLength", MOST_TOKENS)
      : readCount(where, "maxLength", given["maxLength"], MOST_TOKENS, MOST_TOKENS);
  return {
    batch: readCount(where, "batch", given["batch"], 1, MOST_ENTRIES),
    kvHeads: needed("kvHeads"),
    headDim,
    valueDim: readCount(where, "valueDim", given["valueDim"], headDim),
    maxLength,
    dtype: readChoice(where, "dtype", plainDType(given["dtype"]), ["f32", "f16", "i8"], "f32"),
    window,
  };
}

class PagedCache implements KVCache {
  /** The class's name in messages, which a minifier would shorten. */
  static readonly name: string = "KVCache";
  readonly batch: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly valueDim: number;
  readonly maxLength: number;
  readonly dtype: "f32" | "f16" | "i8";
  readonly window: number | null;
  readonly #backend: Backend;
  readonly #layout: PageLayout;
  readonly #store: PageStore;
  /** The most tokens that may ever be appended. */
  readonly #most: number;
  readonly #mutex = new Mutex();
  #disposed = false;

  constructor(backend: Backend, options: ReadCacheOptions) {
    this.batch = options.batch;
    this.kvHeads = options.kvHeads;
    this.headDim = options.headDim;
    this.valueDim = options.valueDim;
    this.maxLength = options.maxLength;
    this.dtype = options.dtype;
    this.window = options.window;
    this.#backend = backend;
    const held = Math.min(this.window ?? Infinity, this.maxLength);
    this.#most = held === this.window ? Infinity : this.maxLength;
    const dims = { key: this.headDim, value: this.valueDim };
    this.#layout = new PageLayout(this.dtype, this.kvHeads, dims, this.#most, held);
    const firstPages = [this.batch, this.#layout.bytes / 4];
    checkRoom("createCache", "the first pages, [batch, numbers of a page],", firstPages);
    const store = new PageStore(backend.root, this.#layout, this.batch, this.window === null ? null : this.window - 1);
    this.#store = store;
    finalise(this, () => store.dispose());
    registerCache(this, {
      attend: (engine, tensors, given) => this.#attend(engine, tensors, given),
      attendSync: (engine, tensors, given) => this.#attendSync(engine, tensors, given),
    });
  }

  get length(): number {
    return this.#store.length;
  }

  get start(): number {
    return this.#store.start;
  }

  async append(
    key: TensorInput,
    value: TensorInput,
    options?: { readonly layout?: Layout | undefined },
  ): Promise<void> {
    const layout = guard("option", "append: reading its arguments", () => {
      return readLayout("append", readRecord("append", "options", options, ["layout"])["layout"]);
    });
    return this.#inTurn("append", { tensors: [key, value], options: undefined }, ({ tensors }) => {
      this.#assertUsable("append");
      const rows = guard("option", "append: reading its arguments", () => this.#readRows(tensors, layout));
      this.#staged("append", rows, (staged) => this.#write("append", staged, rows));
    });
  }

  async truncate(length: number): Promise<void> {
    return this.#mutex.run(() => {
      this.#assertUsable("truncate");
      const { length: now, start } = this.#store;
      if (!Number.isInteger(length) || length < 0 || length > now) {
        throw new HeedError(
          "option",
          `truncate: length must be a whole number from 0 to the cache's ${now}, got ${showValue(length)}`,
        );
      }
      if (length < now && start > 0) {
        throw new HeedError(
          "option",
          `truncate: the window has freed the tokens before ${start}, which those before ${now} would see, got ${length}`,
        );
      }
      this.#store.truncate(length);
    });
  }

  async reorder(indices: Numbers): Promise<void> {
    const order = guard("option", "reorder: reading its arguments", () => numbersOf(indices, this.batch));
    return this.#mutex.run(() => {
      this.#assertUsable("reorder");
      const isEntry = (index: number): boolean => Number.isInteger(index) && index >= 0 && index < this.batch;
      if (order === null || order.length !== this.batch || !order.every(isEntry)) {
        throw new HeedError(
          "option",
          `reorder: indices must be ${this.batch} whole numbers from 0 to ${this.batch - 1}, got ${showValue(indices)}`,
        );
      }
      this.#store.reorder(order);
    });
  }

  dispose(): void {
    this.#disposed = true;
    unfinalise(this);
    this.#store.dispose();
  }

  [DISPOSE](): void {
    this.dispose();
  }

  [LOCK](): CacheLock {
    const handle = this.#held([this]);
    let resolveRelease: (isKept: boolean) => void;
    const released = new Promise<boolean>((resolve) => {
      resolveRelease = resolve;
    });
    let held: Promise<void>;
    const acquired = new Promise<void>((resolveAcquired) => {
      held = this.#mutex.run(async () => {
        this.#store.takeSnapshot();
        resolveAcquired();
        this.#store.dropSnapshot(await released);
      });
    });
    const release = (isKept: boolean): Promise<void> => {
      resolveRelease(isKept);
      return held;
    };
    return { acquired, handle, release };
  }

  /** This cache, or several of one entry each, of which it is the first, for the owner of their locks. */
  #held(caches: readonly PagedCache[]): HeldCache {
    let isUsed = false;
    const handle: HeldCache = {
      get length() {
        return Math.max(...caches.map(({ length }) => length));
      },
      get start() {
        return Math.min(...caches.map(({ start }) => start));
      },
      get lengths() {
        return caches.length === 1 ? null : caches.map(({ length }) => length);
      },
      join: (where, others) => {
        const all = [handle, ...others].flatMap((one) => OWNERS.get(one) ?? []);
        if (all.length !== others.length + 1) throw new TypeError("caches are held by what made them");
        for (const other of all) this.#assertLike(where, other);
        return all.length === 1 ? handle : this.#held(all);
      },
      attend: async (where, program, problem) => {
        for (const cache of caches) cache.#check(where, problem, program, caches.length);
        // What a worker with its own memory wrote to a page is there once the calls are done, and the page may be copied now.
        if (isUsed) await program.flush();
        isUsed = true;
        return stagedAll(
          caches,
          (cache, act) => cache.#staged(where, problem, act),
          async (entries) => {
            for (const { cache, staged } of entries) cache.#store.changed(staged, program);
            await program.run(APPEND, this.#appended(problem, entries));
            return attentionResults(problem, await program.run(PAGED_ATTENTION, this.#paged(problem, entries)));
          },
        );
      },
    };
    OWNERS.set(handle, caches);
    return handle;
  }

  /** Throws unless the pages of both are alike, and each is that of one sequence. */
  #assertLike(where: string, other: PagedCache): void {
    const sizesOf = (cache: PagedCache): string =>
      [cache.batch, cache.kvHeads, cache.headDim, cache.valueDim, cache.dtype, cache.window, cache.#layout.rows].join();
    if (other.batch === 1 && other.window === null && sizesOf(this) === sizesOf(other)) return;
    const rule =
      "caches of several sequences must each have a batch of 1, no window, and be made with the same options";
    throw new HeedError("option", `${where}: ${rule}`);
  }

  #attend(backend: Backend, { query, key, value }: GivenTensors, options: unknown): Promise<AnyAttentionResult> {
    return this.#inTurn("attention", { tensors: [query, key, value], options }, ({ tensors, options }) =>
      guardAsync("memory", "attention: computing", async () => {
        const [query, key, value] = tensors;
        const given = { query, key, value };
        const call = this.#call("attention", backend, given, options, (problem, signal) =>
          backend.run(PAGED_ATTENTION, problem, signal),
        );
        return call.result(await call.made);
      }),
    );
  }

  #attendSync(backend: Backend, tensors: GivenTensors, options: unknown): AnyAttentionResult {
    if (!this.#mutex.isIdle) {
      throw new HeedError("option", "attentionSync: the cache must be idle, but a call with it is under way");
    }
    return guard("memory", "attentionSync: computing", () => {
      const call = this.#call("attentionSync", backend, tensors, options, (problem) =>
        backend.runSync(PAGED_ATTENTION, problem),
      );
      return call.result(call.made);
    });
  }

  /** Runs at once, or holds the arguments until the calls before it are done. */
  async #inTurn<R>(where: string, given: Arguments, act: (given: Arguments) => R | Promise<R>): Promise<R> {
    if (this.#mutex.isIdle) return this.#mutex.run(() => act(given));
    const held = guard("option", `${where}: reading its arguments`, () => hold(given));
    const signal = isOptions(held.options) ? readSignal(where, held.options["signal"]) : null;
    return guardAsync("option", `${where}: waiting for the cache`, async () => {
      try {
        return await this.#mutex.run(() => act(held), signal);
      } finally {
        held.release();
      }
    });
  }

  /** Checks a call, writes its keys and values, and computes it. */
  #call<R>(
    where: string,
    backend: Backend,
    tensors: GivenTensors,
    options: unknown,
    run: (problem: PagedProblem, signal: AbortSignal | null) => R,
  ): { readonly made: R; readonly result: (made: readonly Computed[]) => AnyAttentionResult } {
    const { read, checked } = this.#read(where, backend, tensors, options);
    const { problem, shapes } = checked;
    const made = this.#staged(where, problem, (staged) => {
      this.#write(where, staged, problem);
      return run(this.#paged(problem, [{ cache: this, staged }]), read.signal);
    });
    return { made, result: (made) => resultOf(backend, attentionResults(problem, made), shapes, read.output) };
  }

  /** Makes room for new rows, which count if `act` succeeds, at once or later. */
  #staged<R>(where: string, { key }: NewRows, act: (staged: Staged) => R): R {
    const staged = guard("memory", `${where}: copying`, () => this.#store.stage(key.shape[2]));
    return ended(
      () => act(staged),
      (isKept) => (isKept ? this.#store.commit(staged) : this.#store.rollBack(staged)),
    );
  }

  /** Appends on the calling thread, which takes less time than a message to a worker. */
  #write(where: string, staged: Staged, rows: NewRows): void {
    guard("memory", `${where}: copying`, () =>
      this.#backend.root.runSync(APPEND, this.#appended(rows, [{ cache: this, staged }])),
    );
    this.#store.changed(staged);
  }

  #read(
    where: string,
    backend: Backend,
    tensors: GivenTensors,
    options: unknown,
  ): { readonly read: ReadOptions; readonly checked: CheckedAttention } {
    this.#assertUsable(where, backend);
    return guard("option", `${where}: reading its arguments`, () => {
      const read = readAttentionOptions(where, options);
      const { cuSeqlensQ, cuSeqlensK } = read.structure;
      if (cuSeqlensQ !== undefined || cuSeqlensK !== undefined) throw packedError(where);
      const operands = readTensors(where, tensors, this.#backend);
      const checked = validateAttention(where, this.#backend, operands, read, this.length - this.start);
      this.#check(where, checked.problem, backend, 1);
      throwIfAborted(where, read.signal);
      return { read, checked };
    });
  }

  /** Checks what depends on the cache. `caches`: how many of them the call has. */
  #check(where: string, problem: AttentionProblem, backend: Computer, caches: number): void {
    this.#assertUsable(where, backend);
    if (problem.structure.sequences !== null) throw packedError(where);
    this.#checkRows(where, problem, caches === 1 ? this.batch : caches);
    if (this.window !== null) this.#checkPositions(where, problem);
  }

  /** A window frees tokens by their positions in the cache, so a call must not number its queries or keys otherwise. */
  #checkPositions(where: string, { query, key, causal, structure }: AttentionProblem): void {
    const { qOffsets, qLengths, kvLengths } = structure;
    const fail = (rule: string): never => {
      throw new HeedError("option", `${where}: a cache with a window counts positions by itself: ${rule}`);
    };
    if ([qOffsets, qLengths, kvLengths].some((option) => option !== null)) {
      fail("qOffset, qLengths and kvLengths cannot be given");
    }
    if (causal === "upper-left") fail('causal cannot be "upper-left"');
    const [queries, keys] = [query.shape[2], key.shape[2]];
    if (queries > keys) fail(`there must not be more queries than keys, got ${queries} and ${keys}`);
  }

  #cached({ offset, dim, width }: PagePart, batch: number, length: number): Operand {
    const { headBytes, elementBytes } = this.#layout;
    return {
      source: { kind: "paged", offset },
      dtype: this.dtype,
      elements: 0,
      shape: [batch, this.kvHeads, length, dim],
      strides: [0, headBytes / elementBytes, width, 1],
    };
  }

  #appended({ key, value }: NewRows, entries: readonly Entry[]): AppendProblem {
    const { keys, values } = this.#layout;
    const [batch, , count] = key.shape;
    const tables = entries.map(({ cache, staged }) => cache.#store.pagesOf(staged, cache.length));
    return {
      key,
      value,
      cachedKey: this.#cached(keys, batch, count),
      cachedValue: this.#cached(values, batch, count),
      pages: joined(tables),
      firstRows: tables.length === 1 ? null : Int32Array.from(tables, ({ first }) => first),
    };
  }

  #paged(problem: AttentionProblem, entries: readonly Entry[]): PagedProblem {
    const { keys, values } = this.#layout;
    const lengths = entries.map(({ cache, staged }) => staged.length - cache.start);
    const [batch] = problem.key.shape;
    const { structure } = problem;
    const windowLeft = Math.min(structure.windowLeft ?? Infinity, (this.window ?? Infinity) - 1);
    return {
      ...problem,
      key: this.#cached(keys, batch, Math.max(...lengths)),
      value: this.#cached(values, batch, Math.max(...lengths)),
      pages: joined(entries.map(({ cache, staged }) => cache.#store.pagesOf(staged, cache.start))),
      structure: {
        ...structure,
        windowLeft: windowLeft === Infinity ? null : windowLeft,
        ...(lengths.length === 1 ? {} : { kvLengths: Int32Array.from(lengths) }),
      },
    };
  }

  /** Reads the arguments of `append`. */
  #readRows([key, value]: readonly unknown[], layout: Layout): NewRows {
    const operand = (name: string, value: unknown): Operand => {
      const { source, dtype, elements, shape } = readTensor("append", name, value, this.#backend);
      if (shape.length < 2 || shape.length > 4) {
        throw new HeedError("shape", `append: ${name} must have rank 2, 3 or 4, got ${showShape(shape)}`);
      }
      return { source, dtype, elements, ...viewOf("append", name, shape, layout, this.kvHeads) };
    };
    const rows = { key: operand("key", key), value: operand("value", value) };
    this.#checkRows("append", rows, this.batch);
    return rows;
  }

  #checkRows(where: string, { key, value }: NewRows, batch: number): void {
    const count = key.shape[2];
    const fits = ({ shape }: Operand, dim: number): boolean =>
      shape[0] === batch && shape[1] === this.kvHeads && shape[2] === count && shape[3] === dim;
    if (!fits(key, this.headDim) || !fits(value, this.valueDim)) {
      const wanted = (dim: number): Dims4 => [batch, this.kvHeads, count, dim];
      throw new HeedError(
        "shape",
        `${where}: the cache takes key ${showShape(wanted(this.headDim))} value ${showShape(wanted(this.valueDim))}, got key ${showShape(key.shape)} value ${showShape(value.shape)} (in [B, H, L, D])`,
      );
    }
    if ([key, value].some(({ source }) => source.kind === "resident" && source.resident.buffer !== undefined)) {
      throw new HeedError("unsupported", `${where}: keys and values of a cache cannot be tensors that live on the GPU`);
    }
    if (this.length + count > this.#most) {
      throw new HeedError(
        "shape",
        `${where}: the cache holds ${this.maxLength} tokens (maxLength), has ${this.length}, got ${count} more`,
      );
    }
  }

  #assertUsable(where: string, backend: Computer = this.#backend): void {
    if (this.#disposed) throw new HeedError("disposed", `${where}: the cache was disposed`);
    if (backend.root !== this.#backend.root)
      throw new HeedError("disposed", `${where}: cache is a cache of another engine`);
  }
}

/** The caches behind handles. */
const OWNERS = new WeakMap<HeldCache, readonly PagedCache[]>();

/** A cache with room for the rows of a call. */
interface Entry {
  readonly cache: PagedCache;
  readonly staged: Staged;
}

/** Stages one after the other, so that each counts what is new if `act` succeeds. */
function stagedAll<R>(
  [first, ...rest]: readonly PagedCache[],
  stage: (cache: PagedCache, act: (staged: Staged) => Promise<R>) => Promise<R>,
  act: (entries: readonly Entry[]) => Promise<R>,
): Promise<R> {
  if (first === undefined) return act([]);
  return stage(first, (staged) => stagedAll(rest, stage, (others) => act([{ cache: first, staged }, ...others])));
}

/** The page tables of batch entries as one. Shorter ones end with a page that nobody reads there. */
function joined(tables: readonly Pages[]): Pages {
  const [first, ...others] = tables;
  if (first === undefined) throw new TypeError("a call with a cache has one");
  if (others.length === 0) return first;
  const perBatch = Math.max(...tables.map((table) => table.perBatch));
  const pages = tables.flatMap((table) => {
    return Array.from({ length: perBatch }, (_, at) => table.pages[at] ?? table.pages[0]).filter(
      (page) => page !== undefined,
    );
  });
  return { ...first, pages, perBatch };
}

/** Runs `act` and then `end`: for a promise when that is settled. */
function ended<R>(act: () => R, end: (isDone: boolean) => void): R {
  try {
    const result = act();
    if (result instanceof Promise)
      result.then(
        () => end(true),
        () => end(false),
      );
    else end(true);
    return result;
  } catch (error) {
    end(false);
    throw error;
  }
}

function packedError(where: string): HeedError {
  return new HeedError("unsupported", `${where}: packed sequences and a cache exclude each other`);
}
