// Finds @huggingface/jinja, which a page without chat templates does not need. No bundler may look for it.

import { showValue } from "../base/describe.js";
import { causeText, HeedError } from "../base/errors.js";
import { isRecord } from "../base/read-values.js";

/** The module @huggingface/jinja, or its address: a worker then renders templates, and one that does not end is stopped. */
export type JinjaSource = JinjaModule | string | URL;

export interface JinjaModule {
  readonly Template: new (source: string) => { render(values: Readonly<Record<string, unknown>>): string };
}

type Render = (template: string, values: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** A template is a stranger's program. */
const LONGEST = 5000;

const isModule = (value: unknown): value is JinjaModule => isRecord(value) && typeof value["Template"] === "function";

export async function findJinja(where: string, source: unknown, name = "@huggingface/jinja"): Promise<Render> {
  if (isModule(source)) return async (template, values) => new source.Template(template).render(values);
  if (typeof source === "string" || source instanceof URL) {
    const address = new URL(source, globalThis.location?.href).href;
    if (typeof Worker === "function" && typeof Blob === "function") return renderElsewhere(where, address);
    return findJinja(where, await imported(where, address));
  }
  if (source === undefined) return findJinja(where, await imported(where, name));
  throw new HeedError(
    "option",
    `${where}: jinja must be the module @huggingface/jinja or its address, got ${showValue(source)}`,
  );
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

const PROGRAM = `onmessage = async ({ data: { address, template, values } }) => {
  try {
    const { Template } = await import(address);
    postMessage({ text: new Template(template).render(values) });
  } catch (error) {
    postMessage({ error: String(error?.message ?? error) });
  }
};`;

function renderElsewhere(where: string, address: string): Render {
  return async (template, values) => {
    const script = URL.createObjectURL(new Blob([PROGRAM], { type: "text/javascript" }));
    let worker: Worker | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const made = new Worker(script, { type: "module" });
      worker = made;
      const answer = await new Promise<unknown>((resolve, reject) => {
        timer = setTimeout(() => {
          reject(
            new HeedError("option", `${where}: the model's chat template must end within ${LONGEST} ms, and did not`),
          );
        }, LONGEST);
        made.onmessage = ({ data }) => resolve(data);
        made.onerror = (event) =>
          reject(new HeedError("load", `${where}: jinja's worker failed: ${causeText(event.message)}`));
        made.postMessage({ address, template, values });
      });
      const { text, error } = isRecord(answer) ? answer : {};
      if (error === undefined) return text;
      throw new HeedError("option", `${where}: the model's chat template failed: ${causeText(error)}`);
    } finally {
      clearTimeout(timer);
      worker?.terminate();
      URL.revokeObjectURL(script);
    }
  };
}
