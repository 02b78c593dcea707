// The queue alone: order, aborts of waiting and running tasks, closing, and that `done` is called exactly once for every task.

import { describe, expect, test } from "vitest";
import { type CancelFlag, CONCURRENT_BYTES, Queue } from "../../web/src/backends/wasm/queue.js";
import { HeedError } from "../../web/src/index.js";
import { errorOf } from "../support/cases.js";

/** A task that the test settles, with a log of the queue's calls. */
class Manual {
  readonly log: string[] = [];
  readonly bytes: number;
  /** What it waits for, one after the other. */
  readonly #blocked: Promise<unknown>[];
  #end: { resolve(value: string): void; reject(error: unknown): void } | null = null;
  flag: CancelFlag | null = null;

  constructor(bytes = 1, ...blocked: Promise<unknown>[]) {
    this.bytes = bytes;
    this.#blocked = blocked;
  }

  blocked(): Promise<unknown> | null {
    return this.#blocked.shift() ?? null;
  }

  run(flag: CancelFlag): Promise<string> {
    this.flag = flag;
    this.log.push("run");
    return new Promise((resolve, reject) => {
      this.#end = { resolve, reject };
    });
  }
  interrupt(): void {
    this.log.push("interrupt");
  }
  done(): void {
    this.log.push("done");
  }
  resolve(value: string): void {
    this.#end?.resolve(value);
  }
  reject(error: unknown): void {
    this.#end?.reject(error);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe("a queue of one at a time", () => {
  test("starts the first task inside push, and the next when it is over, failed or not", async () => {
    const queue = new Queue(() => 1);
    const [first, second] = [new Manual(), new Manual()];
    expect(queue.admits(1)).toBe(true);
    const failing = queue.push(first, null);
    const passing = queue.push(second, null);
    expect([queue.admits(1), first.log, second.log]).toEqual([false, ["run"], []]);
    first.reject(new Error("no"));
    await expect(failing).rejects.toThrow("no");
    await settled();
    second.resolve("yes");
    expect(await passing).toBe("yes");
    await settled();
    expect([queue.admits(1), first.log, second.log]).toEqual([true, ["run", "done"], ["run", "done"]]);
  });

  test("an abort drops a waiting task without running it", async () => {
    const queue = new Queue(() => 1);
    const [first, second] = [new Manual(), new Manual()];
    const controller = new AbortController();
    const running = queue.push(first, null);
    const waiting = errorOf(() => queue.push(second, controller.signal));
    controller.abort("reason");
    expect(await waiting).toMatchObject({ code: "aborted", cause: "reason" });
    first.resolve("done");
    expect(await running).toBe("done");
    await settled();
    expect(second.log).toEqual(["done"]);
    expect(queue.admits(1)).toBe(true);
  });

  test("an abort rejects a running task at once, interrupts it, and calls done when it is over", async () => {
    const queue = new Queue(() => 1);
    const [first, second] = [new Manual(), new Manual()];
    const controller = new AbortController();
    const running = errorOf(() => queue.push(first, controller.signal));
    const waiting = queue.push(second, null);
    controller.abort();
    expect(await running).toMatchObject({ code: "aborted" });
    expect(first.flag?.cancelled).toBe(true);
    expect([first.log, second.log]).toEqual([["run", "interrupt"], []]);
    first.resolve("too late");
    await settled();
    expect(first.log).toEqual(["run", "interrupt", "done"]);
    second.resolve("next");
    expect(await waiting).toBe("next");
  });

  test("a signal that aborts after the end changes nothing", async () => {
    const queue = new Queue(() => 1);
    const task = new Manual();
    const controller = new AbortController();
    const result = queue.push(task, controller.signal);
    task.resolve("done");
    expect(await result).toBe("done");
    await settled();
    controller.abort();
    expect(task.log).toEqual(["run", "done"]);
  });

  test("closing rejects everything with its error", async () => {
    const queue = new Queue(() => 1);
    const tasks = [new Manual(), new Manual(), new Manual()];
    const errors = tasks.map((task) => errorOf(() => queue.push(task, null)));
    queue.close(new HeedError("disposed", "gone"));
    for (const error of await Promise.all(errors)) expect(error).toMatchObject({ code: "disposed" });
    tasks[0]?.reject(new Error("terminated"));
    await settled();
    expect(tasks.map(({ log }) => log)).toEqual([["run", "done"], ["done"], ["done"]]);
  });

  test("whatever a signal or a task throws, the next task runs and done is called once for each", async () => {
    const raise = (): never => {
      throw new Error("mine");
    };
    const listeners: (() => void)[] = [];
    // Objects that only look like signals.
    const signals = {
      "no listener": { addEventListener: raise, removeEventListener: raise },
      "no way back": { addEventListener() {}, removeEventListener: raise },
      "no reason": {
        addEventListener: (_: string, listen: () => void) => listeners.push(listen),
        get reason() {
          return raise();
        },
      },
    };
    for (const [name, fake] of Object.entries(signals)) {
      const queue = new Queue(() => 1);
      const [first, second] = [new Manual(), new Manual()];
      const given = errorOf(() => queue.push(first, fake as never));
      const next = queue.push(second, null);
      for (const listen of listeners) listen();
      first.reject(new HeedError("memory", "over"));
      expect((await given).name, name).toBe("HeedError");
      await settled();
      for (const listen of listeners) listen();
      second.resolve("next");
      expect(await next, name).toBe("next");
      expect(
        first.log.filter((entry) => entry === "done"),
        name,
      ).toEqual(["done"]);
    }
  });

  test("a task that throws in run, done or interrupt does not stop the queue", async () => {
    const raise = (): never => {
      throw new Error("mine");
    };
    const queue = new Queue(() => 1);
    const controller = new AbortController();
    const broken = expect(
      queue.push({ bytes: 1, blocked: () => null, run: raise, interrupt: raise, done: raise }, null),
    ).rejects.toThrow("mine");
    const stuck = new Promise<string>((resolve) => setTimeout(() => resolve("late"), 50));
    const interrupted = errorOf(() =>
      queue.push({ bytes: 1, blocked: () => null, run: () => stuck, interrupt: raise, done: raise }, controller.signal),
    );
    const next = queue.push(
      { bytes: 1, blocked: () => null, run: async () => "next", interrupt: raise, done: raise },
      null,
    );
    await broken;
    await settled();
    controller.abort();
    expect(await interrupted).toMatchObject({ code: "aborted" });
    expect(await next).toBe("next");
  });
});

describe("a task that is not ready", () => {
  test("takes no place, and starts when it is", async () => {
    const queue = new Queue(() => 1);
    let ready = (): void => {};
    const blocked = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const [first, second] = [new Manual(1, blocked, Promise.resolve()), new Manual()];
    const [waiting, other] = [queue.push(first, null), queue.push(second, null)];
    expect([first.log, second.log]).toEqual([[], ["run"]]);
    ready();
    await settled();
    expect(first.log).toEqual([]);
    second.resolve("other");
    expect(await other).toBe("other");
    await settled();
    expect(first.log).toEqual(["run"]);
    first.resolve("ready");
    expect(await waiting).toBe("ready");
  });

  test("rejects with what it waited for, when aborted and when the queue is closed, and never starts", async () => {
    const queue = new Queue(() => 1);
    const controller = new AbortController();
    const never = new Promise(() => {});
    const tasks = [Promise.reject(new HeedError("load", "no module")), never, never].map((it) => new Manual(1, it));
    const errors = tasks.map((task, at) => errorOf(() => queue.push(task, at === 1 ? controller.signal : null)));
    expect(await errors[0]).toMatchObject({ code: "load" });
    controller.abort();
    expect(await errors[1]).toMatchObject({ code: "aborted" });
    queue.close(new HeedError("disposed", "gone"));
    expect(await errors[2]).toMatchObject({ code: "disposed" });
    await settled();
    expect(tasks.map(({ log }) => log)).toEqual([["done"], ["done"], ["done"]]);
  });
});

describe("a queue of several at a time", () => {
  /** The indices of the tasks that started and are not over. */
  const running = (tasks: readonly Manual[]): readonly number[] =>
    tasks.flatMap(({ log }, index) => (log[0] === "run" && log.at(-1) !== "done" ? [index] : []));

  test("starts tasks in order, as many as may run, each as soon as another is over", async () => {
    let width = 2;
    const queue = new Queue(() => width);
    const tasks = Array.from({ length: 6 }, () => new Manual());
    const results = tasks.map((task) => queue.push(task, null));
    expect(running(tasks)).toEqual([0, 1]);
    expect(queue.admits(1)).toBe(false);
    tasks[1]?.resolve("1");
    expect(await results[1]).toBe("1");
    await settled();
    expect(running(tasks)).toEqual([0, 2]);
    width = 3;
    tasks[2]?.reject(new Error("no"));
    await expect(results[2]).rejects.toThrow("no");
    await settled();
    expect(running(tasks)).toEqual([0, 3, 4]);
    width = 1;
    for (const over of [0, 3]) tasks[over]?.resolve("over");
    await settled();
    expect(running(tasks)).toEqual([4]);
    tasks[4]?.resolve("over");
    await settled();
    expect(running(tasks)).toEqual([5]);
    tasks[5]?.resolve("over");
    await settled();
    expect([running(tasks), queue.admits(1)]).toEqual([[], true]);
  });

  test("tasks that would take too much memory together run one after the other, in order", async () => {
    const queue = new Queue(() => 4);
    const sizes = [CONCURRENT_BYTES / 2, CONCURRENT_BYTES / 2, 1, 2 * CONCURRENT_BYTES, 1];
    const tasks = sizes.map((bytes) => new Manual(bytes));
    const results = tasks.map((task) => queue.push(task, null));
    expect(running(tasks)).toEqual([0, 1]);
    for (const [over, next] of [
      [0, [1, 2]],
      [1, [2]],
      [2, [3]],
      [3, [4]],
    ] as const) {
      tasks[over]?.resolve("over");
      await results[over];
      await settled();
      expect(running(tasks)).toEqual(next);
    }
  });

  test("an abort of one leaves the others alone; closing rejects all", async () => {
    const queue = new Queue(() => 2);
    const tasks = [new Manual(), new Manual(), new Manual()];
    const controller = new AbortController();
    const aborted = errorOf(() => queue.push(tasks[0] ?? new Manual(), controller.signal));
    const others = tasks.slice(1).map((task) => errorOf(() => queue.push(task, null)));
    controller.abort();
    expect(await aborted).toMatchObject({ code: "aborted" });
    expect(tasks.map(({ log }) => log)).toEqual([["run", "interrupt"], ["run"], []]);
    queue.close(new HeedError("disposed", "gone"));
    for (const error of await Promise.all(others)) expect(error).toMatchObject({ code: "disposed" });
    for (const task of tasks) task.reject(new Error("terminated"));
    await settled();
    expect(tasks.map(({ log }) => log)).toEqual([["run", "interrupt", "done"], ["run", "done"], ["done"]]);
  });
});
