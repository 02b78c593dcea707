// Runs a scenario once for every order in which what it waits for from outside may come: workers that finish, modules that are loaded,
// the caller's own steps. The code under test is the product's, and what is outside of it waits at gates.

import { setImmediate } from "node:timers/promises";

/** How long the process may need between two gates: modules are compiled, and the machine may be busy. */
const PATIENCE_MS = 20_000;

export class Gates {
  readonly #waiting = new Map<string, () => void>();
  readonly #taken: string[] = [];
  readonly #counts = new Map<string, number>();

  /** Resolves when the schedule opens it. The same name is numbered. */
  pass(name: string): Promise<void> {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return new Promise((resolve) => this.#waiting.set(count === 1 ? name : `${name} ${count}`, resolve));
  }

  get names(): string[] {
    return [...this.#waiting.keys()];
  }

  /** What was opened so far, in order. */
  get trace(): readonly string[] {
    return this.#taken;
  }

  open(name: string): void {
    const go = this.#waiting.get(name);
    if (go === undefined) throw new Error(`nothing waits at ${name}`);
    this.#waiting.delete(name);
    this.#taken.push(name);
    go();
  }
}

/** Resolves to whether the condition came true. */
async function until(isSo: () => boolean): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > end) return false;
    await setImmediate();
  }
  return true;
}

/** Lets everything go on that waits for no gate. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await setImmediate();
}

/**
 * Runs `scenario` in every order of its gates. It resolves when all of its calls have ended; where nothing is left at any gate before
 * that, they never will, and this throws with the gates opened until then. Returns how many orders there were.
 */
export async function everyOrder(scenario: (gates: Gates) => Promise<void>): Promise<number> {
  const prefixes: string[][] = [[]];
  let count = 0;
  for (let prefix = prefixes.pop(); prefix !== undefined; prefix = prefixes.pop()) {
    const gates = new Gates();
    let isOver = false;
    const run = scenario(gates).finally(() => {
      isOver = true;
    });
    run.catch(() => {});
    const [...known] = prefix;
    for (;;) {
      await quiet();
      const wanted = known.shift();
      if (
        !(await until(() => isOver || (wanted === undefined ? gates.names.length > 0 : gates.names.includes(wanted))))
      ) {
        throw new Error(
          `calls never end after: ${gates.trace.join(" > ")}${wanted === undefined ? "" : `; no ${wanted}`}`,
        );
      }
      if (isOver && gates.names.length === 0) break;
      const [first = "", ...others] = wanted === undefined ? gates.names : [wanted];
      for (const other of others) prefixes.push([...gates.trace, other]);
      gates.open(first);
    }
    await run.catch((error: unknown) => {
      throw new Error(`after ${gates.trace.join(" > ")}`, { cause: error });
    });
    count += 1;
  }
  return count;
}
