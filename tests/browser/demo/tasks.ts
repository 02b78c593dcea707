// How long a page's thread computes at a time, by the processor's own account: not by a clock that others' work goes on under.
// A virtual machine's account goes on while its host computes for others: what that can add is measured, and taken off.

import type { Page } from "playwright";

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
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
  /** What the page must have done before it is watched. */
  readonly prepare: () => Promise<unknown>;
  readonly act: () => Promise<unknown>;
}

/**
 * Tasks of the page's main thread while it acts: how many, and the milliseconds of processor time of those over `limit`. Of the first try
 * that has none, or the last.
 */
export async function tasksOver(limit: number, watched: Watched): Promise<{ all: number; over: number[] }> {
  const found = ({ tasks }: Trace, allowed: number) => ({
    all: tasks.length,
    over: tasks.map(({ ms }) => ms).filter((ms) => ms > allowed),
  });
  return await tried(limit, watched, found, ({ over }) => over.length === 0);
}

/**
 * How many frames the page draws while it acts, and the milliseconds of processor time that its main thread takes for one. It is that of
 * the lower quartile: others' work slows most frames down, and none makes one quicker. Of the first try below `limit`, or the last.
 */
export async function frameTime(limit: number, watched: Watched): Promise<{ frames: number; ms: number }> {
  const found = ({ tasks, commits }: Trace) => {
    const times = commits.map((commit, frame) => {
      const before = commits[frame - 1] ?? 0;
      return tasks.reduce((sum, { end, ms }) => (end > before && end <= commit ? sum + ms : sum), 0);
    });
    return { frames: times.length, ms: times.sort((a, b) => a - b)[Math.floor(times.length / 4)] ?? Number.NaN };
  };
  return await tried(limit, watched, found, ({ ms }) => ms < limit);
}

async function tried<Found>(
  limit: number,
  { page, prepare, act }: Watched,
  read: (trace: Trace, allowed: number) => Found,
  isFine: (found: Found) => boolean,
): Promise<Found> {
  const address = page.url();
  for (let attempt = 1; ; attempt++) {
    // An address that differs after the # alone would not load the page anew.
    await page.goto("about:blank");
    await page.goto(address);
    await prepare();
    const before = await standstill(page);
    const trace = await traceOf(page, act);
    const stood = Math.max(before, await standstill(page));
    const found = read(trace, limit + Math.min(stood, limit));
    if (isFine(found) || attempt === TRIES) return found;
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

/** What the page's main thread did. */
interface Trace {
  /** When a task ended, in microseconds, and its milliseconds of processor time. */
  readonly tasks: readonly { readonly end: number; readonly ms: number }[];
  /** When a frame's picture was handed over, in microseconds. The task that does so counts for the frame after. */
  readonly commits: readonly number[];
}

async function traceOf(page: Page, act: () => Promise<unknown>): Promise<Trace> {
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
  const own = traceEvents.filter(({ pid, tid }) => mains.has(`${pid} ${tid}`));
  return {
    // Some machines settle the account of a thread twice a second, and charge a task of a millisecond with a hundred.
    tasks: own.flatMap(({ name, ts, dur = 0, tdur }) =>
      name === "RunTask" && tdur !== undefined ? [{ end: ts + dur, ms: Math.min(dur, tdur) / 1000 }] : [],
    ),
    commits: own.filter(({ name }) => name === "Commit").map(({ ts }) => ts),
  };
}
