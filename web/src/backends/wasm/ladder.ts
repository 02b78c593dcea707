// The fallback chain, and where on it an engine is: the rung, the module whose memory holds its residents, and the runs under way.

import { causeText, HeedError } from "../../base/errors.js";
import type { Choice } from "../../platform/select.js";
import type { ModuleName } from "../backend.js";
import type { WasmResident } from "./resident.js";
import { Residents } from "./residents.js";
import { type OpenRung, openRung, type RungOverrides } from "./rung.js";
import { WorkerLost } from "./worker-link.js";

/** Both kinds of workers run the same script, so where it stays silent for one, it does for the other. */
const WORKER_KINDS = ["shared-memory", "private-memory"] as const;

/** A module has the operations of those below it. */
const RANKED: readonly ModuleName[] = ["core", "full", "training", "narrow"];

export class Ladder {
  readonly reasons: string[];
  readonly residents = new Residents((resident) => {
    this.#open?.runner.forget(resident);
    this.#open?.kernels.release(resident.address);
  });
  readonly #choice: Choice;
  readonly #overrides: RungOverrides;
  /** Null after `dispose`, or when no rung is left. */
  #open: OpenRung | null = null;
  #module: ModuleName = "core";
  #rungsTried = 0;
  /** While the engine goes to another rung or module. */
  #moving: Promise<void> | null = null;
  readonly #runs = new Set<Promise<unknown>>();
  #switching: Promise<void> = Promise.resolve();
  #disposed = false;
  /** Programs under way, whose memory must stay, and what waits for the last of them. */
  #programs = 0;
  #waiting: (() => void)[] = [];
  /** Brings residents that a worker has alone to the engine's memory, where they stay. Programs set it, which leave them there. */
  bring: ((residents: Iterable<WasmResident>, isMoving?: boolean) => Promise<void>) | null = null;

  constructor(choice: Choice, overrides: RungOverrides) {
    this.#choice = choice;
    this.#overrides = overrides;
    this.reasons = [...choice.reasons];
  }

  get open(): OpenRung | null {
    return this.#open;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  /** The rung in use, or the last that there is. */
  get rung(): OpenRung["rung"] | undefined {
    return this.#open?.rung ?? this.#choice.ladder.at(-1);
  }

  current(where: string): OpenRung {
    if (this.#open !== null) return this.#open;
    throw this.#disposed ? disposedError(where) : this.#refused(where);
  }

  /** Whether the current rung can compute calls of this module. */
  canRun(module: ModuleName): boolean {
    if (this.#moving !== null || this.#open === null) return false;
    return this.#open.runner.lost === null && !this.#open.kernels.abandoned && this.#has(module);
  }

  /** What can take another call of this module now; null: nothing. */
  free(module: ModuleName): OpenRung | null {
    return this.canRun(module) && this.#open !== null && this.#runs.size < this.#open.runner.calls ? this.#open : null;
  }

  /** Resolves when there may be room for a call of this module. Whoever waits for it must keep nothing that a run or a program needs. */
  async untilChange(module: ModuleName, where: string): Promise<void> {
    this.current(where);
    // After a fallback the new rung may take fewer calls at a time than were started on the last.
    if (this.canRun(module)) await Promise.race(this.#runs);
    else if (this.canRun("core")) await this.use(module);
    // A move that fails leaves the engine where it was, or without a rung, which the next look tells.
    else await this.recover().catch(() => {});
  }

  /** Counts a run among those under way. */
  track<T>(run: Promise<T>): Promise<T> {
    const over: Promise<unknown> = run.catch(() => {}).then(() => this.#runs.delete(over));
    this.#runs.add(over);
    return run;
  }

  /** Makes the engine usable again, once for all calls that need it. */
  recover(): Promise<void> {
    return this.#move(() => this.#reopen());
  }

  /** A program begins, whose memory must stay until it leaves. */
  enter(): void {
    this.#programs += 1;
  }

  leave(): void {
    this.#programs -= 1;
    if (this.#programs === 0) for (const go of this.#waiting.splice(0)) go();
  }

  /** Moves onto the same rung of a module, residents along. A module computes all that those below it do. */
  use(module: ModuleName): Promise<void> {
    this.#switching = this.#switching.catch(() => {}).then(() => this.#use(module));
    return this.#switching;
  }

  /** Moves to the next rung that works, residents included. */
  async descend(lost: WorkerLost | null = null): Promise<void> {
    if (lost !== null) this.reasons.push(`the worker was lost (${lost.message})`);
    const previous = this.#open;
    const failures: unknown[] = [];
    // A kind of worker that was lost or did not start is not tried again: another variant would not help.
    const missing = new Set<unknown>(lost === null ? [] : [previous?.rung.worker]);
    for (const rung of this.#choice.ladder.slice(this.#rungsTried)) {
      this.#rungsTried += 1;
      if (rung.worker !== null && missing.has(rung.worker)) continue;
      try {
        const open = await openRung(rung, this.#module, this.#overrides, previous);
        await this.#stepOnto(open, previous);
        return;
      } catch (error) {
        failures.push(error);
        if (error instanceof WorkerLost)
          for (const kind of error.isSilent ? WORKER_KINDS : [rung.worker]) missing.add(kind);
        this.reasons.push(`${rung.variant} with ${rung.worker ?? "no"} worker was refused: ${causeText(error)}`);
      }
    }
    this.#open = null;
    throw this.#refused("createHeed", failures.at(-1));
  }

  dispose(): void {
    this.#disposed = true;
    this.#open?.runner.dispose();
    this.residents.forgetAll();
    // The heap is freed with its last reference.
    this.#open = null;
  }

  #refused(where: string, cause?: unknown): HeedError {
    return new HeedError("load", `${where}: heed cannot run here: ${this.reasons.join("; ")}`, { cause });
  }

  #has(module: ModuleName): boolean {
    return this.#open === null ? module === "core" : RANKED.indexOf(this.#open.module) >= RANKED.indexOf(module);
  }

  #move(act: () => Promise<void>): Promise<void> {
    this.#moving ??= act().finally(() => {
      this.#moving = null;
    });
    return this.#moving;
  }

  /** A lost runner is replaced by the next rung. A trapped front instance is replaced by the same rung, once the workers are done with its memory. */
  async #reopen(): Promise<void> {
    const lost = this.#open?.runner.lost ?? null;
    if (lost !== null) await this.descend(lost);
    if (this.#open?.kernels.abandoned !== true) return;
    await Promise.all(this.#runs);
    this.#rungsTried -= 1;
    await this.descend();
  }

  /** Calls go on while the module is loaded, and wait while its memory takes the place of theirs. */
  async #use(module: ModuleName): Promise<void> {
    const previous = this.current("heed");
    // Only what is asked for by name gives the memory of a larger module back.
    if (previous.module === module || (module !== "core" && this.#has(module))) return;
    const open = await openRung(previous.rung, module, this.#overrides, null);
    // Programs that begin later wait for this move.
    while (this.#programs > 0) await new Promise<void>((go) => this.#waiting.push(go));
    if (this.#open === previous && this.canRun("core")) {
      return this.#move(async () => {
        await Promise.all(this.#runs);
        await this.#stepOnto(open, previous);
      });
    }
    open.runner.dispose();
    // It moves, or has to. Otherwise this has no effect.
    await this.recover();
    return this.#use(module);
  }

  /** Throws, and changes nothing, when the residents do not fit. */
  async #stepOnto(open: OpenRung, previous: OpenRung | null): Promise<void> {
    try {
      if (previous !== null && previous.kernels !== open.kernels) {
        await this.bring?.(this.residents.all, true);
        this.residents.move(previous.kernels, open.kernels);
      }
    } catch (error) {
      open.runner.dispose();
      throw error;
    }
    if (this.#disposed) {
      open.runner.dispose();
      return;
    }
    previous?.runner.dispose();
    this.#open = open;
    this.#module = open.module;
  }
}

export function disposedError(where: string): HeedError {
  return new HeedError("disposed", `${where}: the engine was disposed`);
}
