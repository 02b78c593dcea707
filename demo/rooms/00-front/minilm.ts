// MiniLM, or another model that a reader has, for one's own sentence: from this site's folder where it is there, or from files. It runs in
// a worker, and stays on this device for the next visit. Loaded when one asks for it.

import { refuse } from "../../src/brought/arrays.js";
import { type BroughtFile, isWhole, lacking, type ModelFiles, nameOf, withFiles } from "../../src/brought/files.js";
import { Helper } from "../../src/brought/helper.js";
import type { ModelSummary, Tell } from "../../src/brought/run.js";
import { joined, type Reading, type Spoken } from "./reading.js";
import { HEADS, LAYERS, MINILM } from "./recorded.js";

export type Read = (text: string, words: readonly Spoken[]) => Promise<Reading>;

/** That of all-MiniLM-L6-v2. */
const VOCABULARY = 30522;

const helper = new Helper();
let loads = 0;

/** What reads, and what it is called. `files`: of the reader; otherwise those of the site, of which the browser keeps a copy. */
export async function openModel(
  folder: string,
  files: ModelFiles | undefined,
  signal: AbortSignal,
  tell: Tell,
): Promise<{ readonly by: string; readonly read: Read }> {
  const name = files === undefined ? MINILM : nameOf(files);
  const source = files ?? new URL(folder, document.baseURI).href;
  const model = await helper.do({ kind: "load", key: ++loads, source, name }, signal, tell);
  if (!model.takesText) refuse("These files lack tokenizer.json, by which a model reads text.");
  // Files one by one do not say whose they are.
  const by = name ?? (isMiniLM(model) ? MINILM : model.name);
  const { ends } = helper;
  const read: Read = async (text, words) => {
    if (helper.ends !== ends) throw new Error("the model is gone");
    const pass = await helper.do({ kind: "run", asked: text });
    return { by, words: words.map((word) => word.text), layers: joined(pass, words) };
  };
  return { by, read };
}

const isMiniLM = ({ type, layers, heads, vocabulary, parameters }: ModelSummary): boolean =>
  type === "bert" &&
  layers === LAYERS &&
  heads === HEADS &&
  vocabulary === VOCABULARY &&
  Math.floor(parameters / 1e6) === 22;

/** Forgets the files and the model. */
export function close(): void {
  brought = new Map();
  helper.end();
}

let brought: ModelFiles = new Map();

/** Adds files to those that came before. Refuses what is no model, and says what is still to come. */
export async function gather(files: readonly BroughtFile[]): Promise<ModelFiles> {
  const pieces = await Promise.all(files.map(piece));
  brought = withFiles(brought, pieces);
  return isWhole([...brought.keys()], true) ? brought : refuse(lacking(brought, true));
}

/** Under the name that it is published with, whatever it was saved as. */
async function piece({ path, file }: BroughtFile): Promise<BroughtFile> {
  if (path !== file.name) return { path, file };
  const found = await helper.do({ kind: "read", file });
  return found.kind === "model" ? { path: found.path, file } : refuse(`“${file.name}” is no part of a model.`);
}
