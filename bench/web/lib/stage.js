// The browser: every participant has a page, which is opened at its first use and answers one question at a time.

import { chromium } from "playwright";
import { SOFTWARE_GPU } from "../../../scripts/lib/software-gpu.js";

/** @typedef {import("./participants.js").Participant} Participant */
/** @typedef {import("../pages/harness.js").Bench} Bench */
/** @typedef {{ page: import("playwright").Page, about: Readonly<Record<string, unknown>> }} Opened */

/** @typedef {{ name: string, pid: number, tid: number, dur?: number, tdur?: number, args: { name?: string } }} TraceEvent */

/** A software GPU takes minutes for what takes a GPU a second. */
const LONGEST_MS = 150_000;
const LONGEST_GPU_MS = 600_000;

/** A browser that has just opened a page is busy for some 100 ms more: it starts the process for the next one. */
const SETTLE_MS = 500;

export class Stage {
  #address;
  #browser;
  #longestMs;
  /** @type {Map<string, Opened>} */
  #pages = new Map();

  /** @param {string} address @param {import("playwright").Browser} browser @param {number} longestMs */
  constructor(address, browser, longestMs) {
    this.#address = address;
    this.#browser = browser;
    this.#longestMs = longestMs;
  }

  /** @param {{ address: string, executablePath: string, hasGpu: boolean, longestMs?: number }} options */
  static async open({ address, executablePath, hasGpu, longestMs = hasGpu ? LONGEST_GPU_MS : LONGEST_MS }) {
    // As root, Chromium has no sandbox.
    const rootless = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    const args = [...rootless, ...(hasGpu ? SOFTWARE_GPU : [])];
    return new Stage(address, await chromium.launch({ executablePath, args }), longestMs);
  }

  get version() {
    return this.#browser.version();
  }

  /** What a participant's page says about itself. @param {Participant} one */
  async about(one) {
    return (this.#pages.get(one.name) ?? (await this.#open(one))).about;
  }

  /**
   * Asks a participant's page.
   * @template {keyof Bench} Method
   * @param {Participant} one
   * @param {Method} method
   * @param {Parameters<Bench[Method]>} args
   * @returns {Promise<Awaited<ReturnType<Bench[Method]>>>}
   */
  async ask(one, method, ...args) {
    const { page } = this.#pages.get(one.name) ?? (await this.#open(one));
    return ask(page, method, args, this.#longestMs);
  }

  /**
   * The milliseconds of processor time of the longest task of the page's thread during one call, from Chromium's trace: a loop that watched
   * would take a core.
   * @param {Participant} one
   */
  async longestTask(one) {
    const { page } = this.#pages.get(one.name) ?? (await this.#open(one));
    await this.#browser.startTracing(page, { categories: ["toplevel"] });
    /** @type {Buffer} */
    let trace = Buffer.alloc(0);
    try {
      await ask(page, "sample", [1, 0], this.#longestMs);
    } finally {
      trace = await this.#browser.stopTracing();
    }
    return longestIn(/** @type {{ traceEvents: TraceEvent[] }} */ (JSON.parse(trace.toString())).traceEvents);
  }

  /**
   * Asks a new page with a profile of its own, in which no participant is opened yet.
   * @template {keyof Bench} Method
   * @param {Participant} one
   * @param {Method} method
   * @param {Parameters<Bench[Method]>} args
   * @returns {Promise<Awaited<ReturnType<Bench[Method]>>>}
   */
  async fresh(one, method, ...args) {
    const context = await this.#browser.newContext();
    try {
      const page = await this.#load(await context.newPage(), one);
      await page.waitForTimeout(SETTLE_MS);
      return await ask(page, method, args, this.#longestMs);
    } finally {
      await context.close();
    }
  }

  /** @param {Participant} one */
  async close(one) {
    const opened = this.#pages.get(one.name);
    this.#pages.delete(one.name);
    await opened?.page.close();
  }

  async end() {
    this.#pages.clear();
    await this.#browser.close();
  }

  /** @param {Participant} one */
  async #open(one) {
    const page = await this.#load(await this.#browser.newPage(), one);
    const about = await ask(page, "open", [], this.#longestMs);
    const opened = { page, about };
    this.#pages.set(one.name, opened);
    return opened;
  }

  /** @param {import("playwright").Page} page @param {Participant} one */
  async #load(page, one) {
    const query = new URLSearchParams({
      page: one.page,
      threads: String(one.threads),
      options: JSON.stringify(one.options),
    });
    await page.goto(`${this.#address}/pages/page.html?${query}`);
    await page.waitForFunction(() => "bench" in window, undefined, { timeout: 20_000 });
    return page;
  }
}

/** @param {readonly TraceEvent[]} events microseconds */
function longestIn(events) {
  const threadOf = (/** @type {TraceEvent} */ { pid, tid }) => `${pid} ${tid}`;
  const named = events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const pages = new Set(named.map(threadOf));
  const tasks = events.filter((event) => event.name.endsWith("RunTask") && pages.has(threadOf(event)));
  if (tasks.length === 0) throw new Error("the trace has no task of the page's thread");
  // A thread's account may be settled late, in a task that took less time than it is charged with.
  return Math.max(...tasks.map(({ dur = 0, tdur = dur }) => Math.min(dur, tdur))) / 1000;
}

/**
 * @template {keyof Bench} Method
 * @param {import("playwright").Page} page
 * @param {Method} method
 * @param {Parameters<Bench[Method]>} args
 * @param {number} longestMs
 * @returns {Promise<Awaited<ReturnType<Bench[Method]>>>}
 */
async function ask(page, method, args, longestMs) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no answer in ${longestMs / 1000} s`)), longestMs);
  });
  try {
    const answer = page.evaluate(`bench.${method}(...${JSON.stringify(args)})`);
    return /** @type {Awaited<ReturnType<Bench[Method]>>} */ (await Promise.race([answer, late]));
  } finally {
    clearTimeout(timer);
  }
}
