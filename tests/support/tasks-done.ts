// How much each worker of an engine has computed: tasks where workers share a memory, calls and shards where each has its own.

import { MODULES } from "../../web/src/backends/wasm/inlined.js";
import type { FrontModule, ModuleTables, VariantTable } from "../../web/src/backends/wasm/variants.js";
import { WorkerLink } from "../../web/src/backends/wasm/worker-link.js";

export interface Counted<B> {
  readonly backend: B;
  tasksDone(worker: number): number;
}

/** Opens a backend of so many threads with these modules, and counts what its workers do, those of modules that come later included. */
export async function counted<B>(threads: number, open: (modules: ModuleTables) => Promise<B>): Promise<Counted<B>> {
  const fronts: FrontModule[] = [];
  const answers = new Map<WorkerLink, number>();
  const { start, request } = WorkerLink.prototype;
  WorkerLink.prototype.start = function (this: WorkerLink, ...given) {
    answers.set(this, 0);
    return start.apply(this, given);
  };
  WorkerLink.prototype.request = async function (this: WorkerLink, ...given) {
    const answer = await request.apply(this, given);
    const before = answers.get(this);
    if (before !== undefined) answers.set(this, before + 1);
    return answer;
  };
  const watched = (table: VariantTable): VariantTable => {
    const entries = Object.entries(table).map(([name, load]) => [name, watch(load)] as const);
    return Object.fromEntries(entries) as VariantTable;
  };
  const watch =
    (load: VariantTable["wasm-simd"]): VariantTable["wasm-simd"] =>
    async () => {
      const variant = await load();
      return {
        ...variant,
        default: async (options) => {
          const front = await variant.default(options);
          fronts.push(front);
          return front;
        },
      };
    };
  const more = async (): ReturnType<ModuleTables["more"]> => {
    const { full, training, narrow } = await MODULES.more();
    return { full: watched(full), training: watched(training), narrow: watched(narrow) };
  };
  const backend = await open({ core: watched(MODULES.core), more });
  const ofPool = (worker: number): number =>
    fronts.reduce((sum, front) => sum + (front._heed_tasks_done?.(worker) ?? 0), 0);
  const ofLinks = (worker: number): number =>
    [...answers.values()].reduce((sum, count, at) => sum + (at % threads === worker ? count : 0), 0);
  return { backend, tasksDone: (worker) => ofPool(worker) + ofLinks(worker) };
}
