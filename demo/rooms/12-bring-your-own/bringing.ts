// Where arrays and models come in: files that are opened or dropped, JSON that is pasted; and what each of them is taken for.

import { button, fileButton, h } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { type Arrays, counted, FileTrouble, shown, surveyOf } from "./arrays.js";
import { Helper } from "./helper.js";
import { readJson } from "./json-arrays.js";
import { type BroughtFile, type ModelPieces, NO_PIECES, withPiece } from "./model/pieces.js";
import { recognise } from "./model/recognise.js";
import { ModelPanel } from "./model-panel.js";
import { siteModel } from "./site-model.js";
import { guessRoles, ROLES, type Role, type Source, sourceFrom } from "./source.js";
import type { BringStore } from "./state.js";

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  q: "queries",
  k: "keys",
  v: "values",
  weights: "weights",
  none: "not used",
};

const HELP = [
  "Drop files anywhere on this page. They stay on this device, and a model runs here.",
  "Arrays: queries and keys, [layers, heads, tokens, width], or weights, [layers, heads, queries, keys]; leave out axes of size 1. In JSON, a list “tokens” may name the tokens.",
  "Models of the shape of GPT-2, BERT or Llama: config.json, model.safetensors or all parts of it, and tokenizer.json.",
];

/** Files have hundreds. */
const MOST_LISTED = 60;

/** `isModel`: what a model computed, at the place where one was looking. */
export type Brought = (source: Source, isModel: boolean) => void;

export class Bringing {
  readonly element: HTMLElement;
  readonly #brought: Brought;
  readonly #message = h("p", { class: "field-message", role: "status" });
  readonly #list = h("div", { class: "brought" });
  readonly #helper = new Helper();
  readonly #panel: ModelPanel;
  #has: Arrays = { arrays: [], words: [] };
  #roles: Role[] = [];
  /** Arrays that wait for others. */
  #isWaiting = false;
  #pieces: ModelPieces = NO_PIECES;
  /** One drop after the other. */
  #reading: Promise<void> = Promise.resolve();

  constructor(store: BringStore, brought: Brought) {
    this.#brought = brought;
    this.#panel = new ModelPanel(store, this.#helper, (source) => brought(source, true));
    const open = fileButton("Open npy, JSON or safetensors…", "arrays", ".npy,.json,.safetensors", (files) =>
      this.#readLater(files),
    );
    const pasted = h("textarea", {
      rows: 3,
      id: "pasted",
      spellcheck: "false",
      placeholder: '{ "q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]], "tokens": ["red", "blue"] }',
    });
    const load = button("Load", () => this.#try(() => this.#takeArrays(readJson("pasted", pasted.value))));
    const minilm = button("Ask MiniLM (91 MB)", () => void this.#askSite());
    this.element = h(
      "details",
      { class: "bringing" },
      h("summary", {}, "Bring your own arrays, or a model"),
      ...HELP.map((text) => h("p", { class: "small-label" }, text)),
      h(
        "div",
        { class: "bringing-ways" },
        open,
        h("div", { class: "field" }, h("label", { for: "pasted" }, "or paste JSON"), pasted, load),
        minilm,
      ),
      this.#list,
      this.#message,
      this.#panel.element,
    );
    this.#listenToDrops();
    // The front page's "Ask MiniLM" leads here; the store keeps no such word in the address.
    const isAsked = new URLSearchParams(location.hash.slice(1)).has("ask");
    if (isAsked) requestAnimationFrame(() => void this.#askSite());
  }

  /** Loads the model that the site has, and runs it. */
  async #askSite(): Promise<void> {
    this.element.setAttribute("open", "");
    this.#message.textContent = "Loading all-MiniLM-L6-v2 from this site …";
    this.#message.scrollIntoView({ block: "center" });
    try {
      this.#readLater(await siteModel());
      await this.#reading;
      await this.#panel.run();
      scrollTo(0, 0);
    } catch (error) {
      this.#complain(error);
    }
  }

  /** Said where the address asks for what is not there. */
  show(missing: boolean): void {
    if (!missing || this.#has.arrays.length > 0 || this.#pieces !== NO_PIECES) return;
    this.element.setAttribute("open", "");
    this.#message.textContent =
      "The arrays, or the model, of this address are on the device that it comes from. Until you bring some, the example stands in.";
  }

  #listenToDrops(): void {
    document.addEventListener("dragover", (event) => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    document.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) document.body.classList.remove("dropping");
    });
    document.addEventListener("drop", (event) => {
      document.body.classList.remove("dropping");
      const files = Array.from(event.dataTransfer?.files ?? []);
      if (files.length === 0) return;
      event.preventDefault();
      this.element.setAttribute("open", "");
      this.#readLater(files);
    });
  }

  #readLater(files: readonly File[]): void {
    this.#reading = this.#reading.then(() => this.#read(files));
  }

  async #read(files: readonly File[]): Promise<void> {
    this.#message.textContent = "Reading …";
    try {
      const brought: BroughtFile[] = [];
      for (const file of files) brought.push({ file, piece: await this.#helper.read(file) });
      const own = brought.flatMap(({ piece }) => (piece.kind === "arrays" ? [piece] : []));
      const [arrays, words] = [own.flatMap((one) => one.arrays), own.flatMap((one) => one.words)];
      if (own.length > 0) this.#takeArrays({ arrays, words });
      if (own.length < brought.length) this.#takePieces(brought);
    } catch (error) {
      this.#complain(error);
    }
  }

  #takeArrays({ arrays, words }: Arrays): void {
    // Words alone are for the arrays that are there.
    const isMore = this.#isWaiting || arrays.length === 0;
    const others = <Named extends { readonly name: string }>(had: readonly Named[], now: readonly Named[]): Named[] =>
      isMore ? had.filter((one) => !now.some(({ name }) => name === one.name)) : [];
    this.#has = {
      arrays: [...others(this.#has.arrays, arrays), ...arrays],
      words: [...others(this.#has.words, words), ...words],
    };
    this.#roles = [...guessRoles(this.#has.arrays)];
    this.#showList();
    this.#take();
  }

  #take(): void {
    this.#isWaiting = true;
    const source = sourceFrom(this.#has.arrays, this.#roles, this.#has.words);
    const { layers, heads, queries, keys } = source;
    this.#isWaiting = false;
    const sizes = `${counted(layers, "layer")}, ${counted(heads, "head")}, ${whole(queries)} queries, ${whole(keys)} keys`;
    this.#message.textContent = `Taken: ${sizes}.${this.#remark(source)}`;
    this.#brought(source, false);
  }

  /** Of weights that are none by softmax. */
  #remark(source: Source): string {
    const weights = this.#has.arrays[this.#roles.indexOf("weights")];
    if (weights === undefined || source.vectors(0, 0) !== undefined) return "";
    const { least, addsUp } = surveyOf(weights);
    if (least < 0) {
      return ` Some are negative, ${exact(least)} the least, as no softmax gives them: numbers are told as they are, and the pictures show these as 0.`;
    }
    return addsUp ? "" : " Not every row adds up to 1, as it would by softmax: they are shown as they are.";
  }

  /** Pieces of a model, each in the place of one of its kind. */
  #takePieces(brought: readonly BroughtFile[]): void {
    const pieces = brought.reduce(withPiece, this.#pieces);
    if (pieces === this.#pieces) {
      const names = brought.map(({ file }) => `“${file.name}”`).join(", ");
      this.#message.textContent = `${names}: not needed. A model takes its config.json, its model.safetensors and its tokenizer.json.`;
      return;
    }
    this.#pieces = pieces;
    this.#panel.show(undefined);
    const { said, model } = recognise(pieces);
    this.#message.textContent = said;
    this.#panel.show(model);
  }

  #try(take: () => void): void {
    try {
      take();
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#message.textContent = error instanceof FileTrouble ? why : `It could not be read: ${why}.`;
  }

  #showList(): void {
    const { arrays, words } = this.#has;
    const hidden = Math.max(0, arrays.length - MOST_LISTED);
    const more = hidden === 0 ? [] : [h("p", {}, `and ${hidden} more`)];
    this.#list.replaceChildren(
      ...arrays.slice(0, MOST_LISTED).map(({ name, shape }, index) => {
        const select = h(
          "select",
          { "aria-label": `What ${name} is` },
          ...ROLES.map((role) => h("option", { value: role, selected: role === this.#roles[index] }, ROLE_NAMES[role])),
        );
        select.addEventListener("change", () => {
          this.#roles[index] = ROLES.find((role) => role === select.value) ?? "none";
          this.#try(() => this.#take());
        });
        return h("p", {}, h("b", {}, name), ` ${shown(shape)} `, select);
      }),
      ...more,
      ...words.map((list) => h("p", {}, h("b", {}, list.name), ` ${counted(list.words.length, "word")}`)),
    );
  }
}
