// Finds @huggingface/jinja, which a page without chat templates does not need. No bundler may look for it.

import { showValue } from "../../base/describe.js";
import { causeText, HeedError } from "../../base/errors.js";
import { isRecord } from "../../base/read-values.js";
import { unlessAborted } from "../../base/unless-aborted.js";

/** The module @huggingface/jinja, or its address: a worker then renders templates, and one that does not end is stopped. */
export type JinjaSource = JinjaModule | string | URL;

/** The module @huggingface/jinja, as it is imported. */
export interface JinjaModule {
  readonly Template: new (source: string) => { render(values: Readonly<Record<string, unknown>>): string };
}

type Render = (template: string, values: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** A template is a stranger's program: it has so many milliseconds and, in Node, so much memory. */
const LONGEST = 5000;
const MOST_MEGABYTES = 256;

const isModule = (value: unknown): value is JinjaModule => isRecord(value) && typeof value["Template"] === "function";

export async function findJinja(
  where: string,
  source: unknown,
  signal: AbortSignal | null,
  name = "@huggingface/jinja",
): Promise<Render> {
  if (isModule(source)) return async (template, values) => new source.Template(template).render(values);
  if (typeof source === "string" || source instanceof URL) {
    const address = new URL(source, globalThis.location?.href).href;
    const start = workerMaker();
    if (start !== null) return renderElsewhere(where, address, start, signal);
    return findJinja(where, await imported(where, address), signal);
  }
  if (source === undefined) {
    const address = installed(name);
    return findJinja(where, address ?? (await imported(where, name)), signal);
  }
  throw new HeedError(
    "option",
    `${where}: jinja must be the module @huggingface/jinja or its address, got ${showValue(source)}`,
  );
}

/** The members of node:module that heed uses. */
interface Modules {
  createRequire(from: string): { resolve(name: string): string };
}

/** Where Node finds a package of the program that runs; null: there is none, or this is not Node. */
function installed(name: string): string | null {
  const modules = builtIn("node:module") as Modules | null;
  const { process } = globalThis as { readonly process?: { cwd?(): string } };
  try {
    const path = modules?.createRequire(`${process?.cwd?.()}/`).resolve(name);
    return path === undefined || nodeThreads() === null ? null : `file://${path}`;
  } catch {
    return null;
  }
}

/** A module of Node's, for which no bundler looks. */
function builtIn(name: string): unknown {
  const { process } = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } };
  return process?.getBuiltinModule?.(name) ?? null;
}

async function imported(where: string, name: string): Promise<JinjaModule> {
  let found: unknown;
  try {
    found = await import(/* @vite-ignore */ /* webpackIgnore: true */ name);
  } catch (cause) {
    const remedy =
      'install it (npm install @huggingface/jinja) and give it: import * as jinja from "@huggingface/jinja", then loadModel(source, { jinja })';
    throw new HeedError(
      "unsupported",
      `${where}: messages need the package @huggingface/jinja, which could not be imported: ${remedy}`,
      { cause },
    );
  }
  if (isModule(found)) return found;
  throw new HeedError("option", `${where}: jinja must have a class Template, got none in ${showValue(name)}`);
}

const RENDER = `async ({ address, template, values }) => {
  try {
    const { Template } = await import(address);
    if (typeof Template !== "function") throw new Error("jinja must have a class Template, got none in " + address);
    return { text: new Template(template).render(values) };
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
}`;

/** A worker that renders one template. */
interface RenderWorker {
  terminate(): void;
}

interface Rendering {
  readonly work: object;
  readonly onAnswer: (answer: unknown) => void;
  readonly onError: (why: unknown) => void;
}

type StartWorker = (rendering: Rendering) => RenderWorker;

/** Null where there are no workers. */
function workerMaker(): StartWorker | null {
  if (typeof Worker === "function" && typeof Blob === "function") return startInPage;
  const threads = nodeThreads();
  return threads === null ? null : (rendering) => startInNode(threads, rendering);
}

function startInPage({ work, onAnswer, onError }: Rendering): RenderWorker {
  const program = `const render = ${RENDER}; onmessage = async ({ data }) => postMessage(await render(data));`;
  const script = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  const made = new Worker(script, { type: "module" });
  made.onmessage = ({ data }) => onAnswer(data);
  made.onerror = ({ message }) => onError(message);
  made.postMessage(work);
  return {
    terminate: () => {
      made.terminate();
      URL.revokeObjectURL(script);
    },
  };
}

/** The members of node:worker_threads that heed uses. */
interface Threads {
  readonly Worker: new (
    program: string,
    options: object,
  ) => {
    on(event: string, listener: (value: unknown) => void): void;
    terminate(): Promise<unknown>;
  };
}

function nodeThreads(): Threads | null {
  const threads = builtIn("node:worker_threads");
  return isRecord(threads) && typeof threads["Worker"] === "function" ? (threads as unknown as Threads) : null;
}

function startInNode(threads: Threads, { work, onAnswer, onError }: Rendering): RenderWorker {
  const program = `const { parentPort, workerData } = require("node:worker_threads"); (${RENDER})(workerData).then((answer) => parentPort.postMessage(answer));`;
  const options = { eval: true, workerData: work, resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES } };
  const made = new threads.Worker(program, options);
  made.on("message", onAnswer);
  made.on("error", (error) => onError(causeText(error)));
  return { terminate: () => void made.terminate().catch(() => {}) };
}

function renderElsewhere(where: string, address: string, start: StartWorker, signal: AbortSignal | null): Render {
  return async (template, values) => {
    let worker: RenderWorker | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const rendered = new Promise<unknown>((resolve, reject) => {
        timer = setTimeout(() => {
          reject(
            new HeedError("option", `${where}: the model's chat template must end within ${LONGEST} ms, and did not`),
          );
        }, LONGEST);
        worker = start({
          work: { address, template, values },
          onAnswer: resolve,
          onError: (why) => reject(new HeedError("load", `${where}: jinja's worker failed: ${causeText(why)}`)),
        });
      });
      const answer = await unlessAborted(where, signal, () => rendered);
      const { text, error } = isRecord(answer) ? answer : {};
      if (error === undefined) return text;
      throw new HeedError("option", `${where}: the model's chat template failed: ${causeText(error)}`);
    } finally {
      clearTimeout(timer);
      worker?.terminate();
    }
  };
}
