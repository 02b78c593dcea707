// Where arrays and models come in: files that are opened or dropped, JSON that is pasted; and what each of them is taken for.

import {
  type Arrays,
  counted,
  FileTrouble,
  messageOf,
  type NamedArray,
  readJson,
  surveyOf,
} from "../../src/brought/arrays.js";
import { listenToDrops, pathsOf } from "../../src/brought/dropped.js";
import { type BroughtFile, isWhole, lacking, type ModelFiles, nameOf, withFiles } from "../../src/brought/files.js";
import type { Helper } from "../../src/brought/helper.js";
import { button, fileButton, folderButton, h } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import type { ModelPanel } from "./model-panel.js";
import { guessRoles, type Source, sourceFrom } from "./source.js";
import { type BringStore, INITIAL } from "./state.js";

const HELP = [
  "Drop files anywhere on this page. They stay on this device, and a model runs here.",
  "Arrays: queries and keys, [layers, heads, tokens, width], or weights, [layers, heads, queries, keys]; leave out axes of size 1. In JSON, a list “tokens” may name the tokens.",
  "Models: a GGUF file, or a folder with config.json, model.safetensors and tokenizer.json, as they are published: Llama, Qwen, Gemma, GPT-2, BERT and others.",
];

const FOR_EXAMPLE = '{ "q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]], "tokens": ["red", "blue"] }';

const DROP = "drop its GGUF file, or its config.json, tokenizer.json and model.safetensors. They stay on this device.";

export function bringing(store: BringStore, helper: Helper, panel: ModelPanel, brought: (source: Source) => void) {
  const message = h("p", { class: "field-message", role: "status", "data-arrive": true });
  let has: Arrays = { arrays: [], words: [] };
  /** Arrays that wait for others. */
  let isWaiting = false;
  let model: ModelFiles = new Map();
  /** One drop after the other. */
  let reading: Promise<void> = Promise.resolve();

  /** In sight: whoever drops files may look elsewhere. */
  const say = (text: string): void => {
    element.open = true;
    message.textContent = text;
    message.scrollIntoView({ block: "nearest" });
  };
  const attempt = async (what: () => void | Promise<void>): Promise<void> => {
    try {
      await what();
    } catch (error) {
      say(error instanceof FileTrouble ? error.message : `It could not be read: ${messageOf(error)}.`);
    }
  };

  const read = async (files: readonly BroughtFile[]): Promise<void> => {
    // As they are published; files one by one may have other names.
    if (files.some(({ path }) => path.includes("/")) && isWhole(files.map(({ path }) => path))) return takeModel(files);
    element.open = true;
    message.textContent = "Reading …";
    const [arrays, pieces]: [Arrays[], BroughtFile[]] = [[], []];
    for (const { path, file } of files) {
      const piece = await helper.do({ kind: "read", file });
      if (piece.kind === "arrays") arrays.push(piece);
      else pieces.push({ path: path === file.name ? piece.path : path, file });
    }
    const all = { arrays: arrays.flatMap((one) => one.arrays), words: arrays.flatMap(({ words }) => words) };
    if (arrays.length > 0) takeArrays(all);
    if (pieces.length > 0) takeModel(pieces);
  };
  const readLater = (files: Promise<readonly BroughtFile[]>): void => {
    reading = reading.then(() => attempt(async () => read(await files)));
  };

  const takeArrays = ({ arrays, words }: Arrays): void => {
    // Words alone are for the arrays that are there.
    const isMore = isWaiting || arrays.length === 0;
    const both = <Named extends { readonly name: string }>(had: readonly Named[], now: readonly Named[]): Named[] => [
      ...had.filter((one) => isMore && !now.some(({ name }) => name === one.name)),
      ...now,
    ];
    has = { arrays: both(has.arrays, arrays), words: both(has.words, words) };
    const roles = guessRoles(has.arrays);
    isWaiting = true;
    const source = sourceFrom(has.arrays, roles, has.words);
    isWaiting = false;
    const sizes = `${counted(source.layers, "layer")}, ${counted(source.heads, "head")}`;
    const tokens = `${whole(source.queries)} queries, ${whole(source.keys)} keys`;
    message.textContent = `Taken: ${sizes}, ${tokens}.${remarkOn(source, has.arrays[roles.indexOf("weights")])}`;
    brought(source);
  };
  /** All of a model, or pieces of it. */
  const takeModel = (files: readonly BroughtFile[]): void => {
    model = withFiles(model, files);
    message.textContent = "";
    if (isWhole([...model.keys()])) panel.open({ source: model, name: nameOf(model) });
    else panel.wait(lacking(model));
  };

  const pasted = h("textarea", { rows: 3, id: "pasted", spellcheck: "false", placeholder: FOR_EXAMPLE });
  const load = button("Load", () => void attempt(() => takeArrays(readJson("pasted", pasted.value))));
  const sentence = h("a", { class: "button" }, "A sentence, read by MiniLM");
  const follow = (): void => {
    sentence.href = `./#${new URLSearchParams({ t: store.state.text })}`;
  };
  store.listen(follow);
  follow();
  const ways = [
    fileButton("Open files…", "arrays", ".npy,.json,.safetensors,.gguf", (files) => readLater(pathsOf(files))),
    folderButton("Open a folder…", "folder", (files) => readLater(pathsOf(files))),
    h("div", { class: "field" }, h("label", { for: "pasted" }, "or paste JSON"), pasted, load),
    sentence,
  ];
  const help = HELP.map((text) => h("p", { class: "small-label" }, text));
  const inside = [...help, h("div", { class: "controls-options" }, ...ways), message];
  const summary = h("summary", {}, "Bring your own arrays, or a model");
  const element = h("details", { class: "bringing" }, summary, ...inside);
  listenToDrops(readLater);
  return {
    element,
    /** Said where the address asks for what is not there. */
    show: (isMissing: boolean): void => {
      if (!isMissing || message.textContent !== "") return;
      element.open = true;
      const where = "The arrays, or the model, of this address are on the device that it comes from.";
      message.textContent = `${where} Until you bring some, the example stands in.`;
      if (store.state.text !== INITIAL.text) panel.wait(`This text is read as soon as its model is here: ${DROP}`);
    },
  };
}

/** Of weights that are none by softmax. */
function remarkOn(source: Source, weights: NamedArray | undefined): string {
  if (weights === undefined || source.vectors(0, 0) !== undefined) return "";
  const { least, addsUp } = surveyOf(weights);
  if (least >= 0)
    return addsUp ? "" : " Not every row adds up to 1, as it would by softmax: they are shown as they are.";
  const shownAs = "numbers are told as they are, and the pictures show these as 0";
  return ` Some are negative, ${exact(least)} the least, as no softmax gives them: ${shownAs}.`;
}
