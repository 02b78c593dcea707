// How long a page's thread computes at a time, by the processor's own account: not by a clock that others' work goes on under.
// A virtual machine's account goes on while its host computes for others: what that can add is measured, and taken off.

import type { Page } from "playwright";
import { kernelAnswered } from "./page.js";

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** How often a page may try: what is slow by itself is slow every time that it is done on a new page. */
const TRIES = 3;
/** Milliseconds that a test may take which tries so often: each time as long as another test. */
export const TIME_FOR_TRIES = TRIES * 120_000;

export interface Watched {
  readonly page: Page;
  /** What the page must have done before it is watched; without it, have answered, and told how long that took. */
  readonly prepare?: () => Promise<unknown>;
  readonly act: () => Promise<unknown>;
}

/**
 * Tasks of the page's main thread while it acts: how many, and the milliseconds of processor time of those over `limit`. Of the first try
 * that has none, or the last.
 */
export async function tasksOver(
  limit: number,
  { page, prepare = () => kernelAnswered(page), act }: Watched,
): Promise<{ all: number; over: number[] }> {
  const address = page.url();
  for (let attempt = 1; ; attempt++) {
    // An address that differs after the # alone would not load the page anew.
    await page.goto("about:blank");
    await page.goto(address);
    await prepare();
    const before = await standstill(page);
    const tasks = await tasksOf(page, act);
    const stood = Math.max(before, await standstill(page));
    const over = tasks.filter((ms) => ms > limit + Math.min(stood, limit));
    if (over.length === 0 || attempt === TRIES) return { all: tasks.length, over };
  }
}

/** The longest time, in milliseconds, for which a script that only looks at the clock saw it stand still. */
async function standstill(page: Page): Promise<number> {
  return await page.evaluate(() => {
    let longest = 0;
    let last = performance.now();
    for (const end = last + 300; last < end; ) {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  });
}

/** The milliseconds of the page's main thread in each task while it acts. */
async function tasksOf(page: Page, act: () => Promise<unknown>): Promise<number[]> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("no browser");
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline"] });
  await act();
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(String(await browser.stopTracing()));
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  // Some machines settle the account of a thread twice a second, and charge a task of a millisecond with a hundred.
  return traceEvents.flatMap(({ name, pid, tid, dur = 0, tdur }) =>
    name === "RunTask" && tdur !== undefined && mains.has(`${pid} ${tid}`) ? [Math.min(dur, tdur) / 1000] : [],
  );
}
