// Executes the steps of a script: it prints each step with its seconds, keeps a child's output until a failure, and ends the
// process with the failing step's name.

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

/** An error for people: it is printed without a stack, with the output of a failed command. */
export class Failure extends Error {
  /**
   * @param {string} message
   * @param {{ output?: string, cause?: unknown }} [more]
   */
  constructor(message, more = {}) {
    super(message, { cause: more.cause });
    this.name = "Failure";
    this.output = more.output ?? "";
    /** The titles of the steps it came out of, innermost first. @type {string[]} */
    this.steps = [];
  }
}

const verbose = process.env.HEED_VERBOSE === "1";
const terminal = process.stdout.isTTY === true && !verbose;

/** Without a terminal a line shows only when complete: a step longer than this says first that it began. */
const ANNOUNCE_AFTER_MS = 2_000;
const REMIND_EVERY_MS = 30_000;

/** How long the output of a command that has ended may stay open. */
const LEFT_BEHIND_MS = 10_000;

/** The title that the cursor is behind, and whose seconds are not printed yet. @type {string | undefined} */
let openLine;

/** Prints a line below the step in progress. @param {string} line */
export function note(line) {
  if (openLine !== undefined) process.stdout.write("\n");
  openLine = undefined;
  process.stdout.write(`${line}\n`);
}

/** @param {number} since */
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/**
 * Executes a step under a title, and prints its seconds.
 * @template T
 * @param {string} title
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  const start = performance.now();
  if (terminal) {
    if (openLine !== undefined) process.stdout.write("\n");
    process.stdout.write(`▸ ${title} …`);
    openLine = title;
  }
  const announce = terminal ? undefined : setTimeout(() => note(`▸ ${title} …`), verbose ? 0 : ANNOUNCE_AFTER_MS);
  const remind = setInterval(() => note(`▸ ${title} … still at it, ${seconds(start)}`), REMIND_EVERY_MS);
  try {
    const result = await work();
    if (openLine !== title) note(`▸ ${title} … ${seconds(start)}`);
    else process.stdout.write(` ${seconds(start)}\n`);
    if (openLine === title) openLine = undefined;
    return result;
  } catch (error) {
    note(`✗ ${title} … ${seconds(start)}`);
    if (error instanceof Failure) error.steps.push(title);
    throw error;
  } finally {
    clearTimeout(announce);
    clearInterval(remind);
  }
}

/**
 * Does all of it, so much at a time; what fails is reported, and does not keep the rest from being done.
 * @param {readonly (() => unknown)[]} works
 * @param {number} width
 * @returns {Promise<number>} how many failed
 */
export async function sideBySide(works, width = availableParallelism()) {
  const waiting = [...works];
  let failures = 0;
  const next = async () => {
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        report(error);
        failures += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: width }, next));
  return failures;
}

/**
 * Runs a command and resolves to its output. When the command fails, the Failure holds its output.
 * `title` makes it a step of its own; `quiet: false` passes its output through as it comes. A command that prints nothing for `silence`
 * seconds is killed, and fails.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, title?: string, quiet?: boolean, input?: string, silence?: number }} [options]
 * @returns {Promise<{ stdout: string, output: string }>} stdout alone, and stdout with stderr as they came
 */
export async function run(command, args, options = {}) {
  const { cwd, env, title, quiet = !verbose, input, silence } = options;
  if (title !== undefined) return step(title, () => run(command, args, { ...options, title: undefined }));

  const child = spawn(command, args, { cwd, env, stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"] });
  child.stdin?.end(input);
  let stdout = "";
  let output = "";
  let isSilent = false;
  const kill = () => {
    isSilent = true;
    child.kill("SIGKILL");
  };
  const watch = silence === undefined ? undefined : setTimeout(kill, 1000 * silence);
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    watch?.refresh();
    stdout += text;
    output += text;
    if (!quiet) process.stdout.write(text);
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    watch?.refresh();
    output += text;
    if (!quiet) process.stderr.write(text);
  });
  const shown = [command, ...args].join(" ");
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(new Failure(`cannot start ${shown}: ${cause.message}`, { cause })));
    /** @param {number | null} code @param {string | null} signal */
    const end = (code, signal) => {
      clearTimeout(watch);
      if (code === 0) return resolve({ stdout, output });
      const how = isSilent ? `silent for ${silence} s` : signal === null ? `exit status ${code}` : `signal ${signal}`;
      reject(new Failure(`${how}: ${shown}`, { output: quiet ? output : "" }));
    };
    child.once("close", end);
    // A process that it started and left behind may hold its output open.
    child.once("exit", (code, signal) => setTimeout(end, LEFT_BEHIND_MS, code, signal).unref());
  });
}

/** Prints the error that ends the script. @param {unknown} error */
export function report(error) {
  if (!(error instanceof Failure)) {
    console.error(error);
    return;
  }
  if (error.output.trim() !== "") console.error(error.output.trimEnd());
  const where = error.steps.length > 0 ? `${[...error.steps].reverse().join(" > ")}: ` : "";
  console.error(`\n✗ ${where}${error.message}`);
}

// A script awaits its steps at the top level without a try: failures arrive here.
process.on("uncaughtException", (error) => {
  // EPIPE: the reader of the output is gone, as with `| head`, so nothing can be printed.
  if (!("code" in error && error.code === "EPIPE")) report(error);
  process.exit(1);
});
