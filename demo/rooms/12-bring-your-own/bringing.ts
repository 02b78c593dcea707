// Where arrays and models come in: files that are opened or dropped, JSON that is pasted; and what each of them is taken for.

import { button, fileButton, h } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { type Arrays, counted, FileTrouble, messageOf, readJson, refuse, shown, surveyOf } from "./arrays.js";
import { Helper } from "./helper.js";
import { type BroughtFile, NO_PIECES, recognise, withPiece } from "./model/recognise.js";
import { modelPanel } from "./model-panel.js";
import { guessRoles, ROLES, type Role, type Source, sourceFrom } from "./source.js";
import { type BringStore, INITIAL } from "./state.js";

const HELP = [
  "Drop files anywhere on this page. They stay on this device, and a model runs here.",
  "Arrays: queries and keys, [layers, heads, tokens, width], or weights, [layers, heads, queries, keys]; leave out axes of size 1. In JSON, a list “tokens” may name the tokens.",
  "Models of the shape of GPT-2, BERT or Llama: config.json, model.safetensors or all parts of it, and tokenizer.json.",
];

const FOR_EXAMPLE = '{ "q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]], "tokens": ["red", "blue"] }';

/** Where whoever serves this site has put the files of all-MiniLM-L6-v2. Nothing is loaded before somebody asks for it. */
const FOLDER = "./models/all-MiniLM-L6-v2/";

const WAITS = "The text below is read as soon as the model is here.";

/** Files have hundreds. */
const MOST_LISTED = 60;

/** `brought`: a source, and whether it is what a model computed, at the place where one was looking. */
export function bringing(store: BringStore, brought: (source: Source, isModel: boolean) => void) {
  const helper = new Helper();
  const panel = modelPanel(store, helper, (source) => {
    // A page that is still being laid out goes to the picture, and not to what was said before it.
    delete message.dataset.arrive;
    brought(source, true);
  });
  const message = h("p", { class: "field-message", role: "status", "data-arrive": true });
  const list = h("div", { class: "brought" });
  let has: Arrays = { arrays: [], words: [] };
  let roles: Role[] = [];
  /** Arrays that wait for others. */
  let isWaiting = false;
  let pieces = NO_PIECES;
  /** One drop after the other. */
  let reading: Promise<void> = Promise.resolve();

  /** In sight: whoever drops files may look elsewhere. */
  const say = (text: string): void => {
    message.textContent = text;
    for (const one of [message, panel.element]) one.scrollIntoView({ block: "nearest" });
  };
  const attempt = async (what: () => void | Promise<void>): Promise<void> => {
    try {
      await what();
    } catch (error) {
      say(error instanceof FileTrouble ? error.message : `It could not be read: ${messageOf(error)}.`);
    }
  };

  const read = async (files: readonly File[]): Promise<void> => {
    message.textContent = "Reading …";
    const found: BroughtFile[] = [];
    for (const file of files) found.push({ file, piece: await helper.do({ kind: "read", file }) });
    const own = found.flatMap(({ piece }) => (piece.kind === "arrays" ? [piece] : []));
    const all = { arrays: own.flatMap(({ arrays }) => arrays), words: own.flatMap(({ words }) => words) };
    if (own.length > 0) takeArrays(all);
    if (own.length < found.length) takePieces(found);
  };
  const readLater = (files: readonly File[]): Promise<void> => {
    reading = reading.then(() => attempt(() => read(files)));
    return reading;
  };

  const takeArrays = ({ arrays, words }: Arrays): void => {
    // Words alone are for the arrays that are there.
    const isMore = isWaiting || arrays.length === 0;
    const both = <Named extends { readonly name: string }>(had: readonly Named[], now: readonly Named[]): Named[] => [
      ...had.filter((one) => isMore && !now.some(({ name }) => name === one.name)),
      ...now,
    ];
    has = { arrays: both(has.arrays, arrays), words: both(has.words, words) };
    roles = [...guessRoles(has.arrays)];
    showList();
    take();
  };
  const take = (): void => {
    isWaiting = true;
    const source = sourceFrom(has.arrays, roles, has.words);
    isWaiting = false;
    const sizes = `${counted(source.layers, "layer")}, ${counted(source.heads, "head")}`;
    const tokens = `${whole(source.queries)} queries, ${whole(source.keys)} keys`;
    message.textContent = `Taken: ${sizes}, ${tokens}.${remarkOn(source)}`;
    brought(source, false);
  };
  /** Of weights that are none by softmax. */
  const remarkOn = (source: Source): string => {
    const weights = has.arrays[roles.indexOf("weights")];
    if (weights === undefined || source.vectors(0, 0) !== undefined) return "";
    const { least, addsUp } = surveyOf(weights);
    if (least >= 0)
      return addsUp ? "" : " Not every row adds up to 1, as it would by softmax: they are shown as they are.";
    const shownAs = "numbers are told as they are, and the pictures show these as 0";
    return ` Some are negative, ${exact(least)} the least, as no softmax gives them: ${shownAs}.`;
  };
  const showList = (): void => {
    const { arrays, words } = has;
    const named = (name: string, ...what: readonly (Node | string)[]) => h("p", {}, h("b", {}, name), " ", ...what);
    const hidden = arrays.length - MOST_LISTED;
    list.replaceChildren(
      ...arrays.slice(0, MOST_LISTED).map(({ name, shape }, index) => {
        const options = Object.entries(ROLES).map(([value, text]) => h("option", { value }, text));
        const select = h("select", { class: "button", "aria-label": `What ${name} is` }, ...options);
        select.value = roles[index] ?? "none";
        select.addEventListener("change", () => {
          roles[index] = select.value as Role;
          void attempt(take);
        });
        return named(name, `${shown(shape)} `, select);
      }),
      ...(hidden > 0 ? [h("p", {}, `and ${hidden} more`)] : []),
      ...words.map((one) => named(one.name, counted(one.words.length, "word"))),
    );
  };

  /** Pieces of a model, each in the place of one of its kind. */
  const takePieces = (found: readonly BroughtFile[]): void => {
    const before = pieces;
    pieces = found.reduce(withPiece, before);
    if (pieces === before) {
      const names = found.map(({ file }) => `“${file.name}”`).join(", ");
      say(`${names}: not needed. A model takes its config.json, its model.safetensors and its tokenizer.json.`);
      return;
    }
    panel.show(undefined);
    const { said, model } = recognise(pieces);
    panel.show(model);
    say(said);
  };
  /** Loads the model that the site has, which runs by itself. */
  const askSite = (): Promise<void> =>
    attempt(async () => {
      element.open = true;
      panel.ask();
      say("Loading all-MiniLM-L6-v2 from this site …");
      await readLater(await siteModel());
    });

  const pasted = h("textarea", { rows: 3, id: "pasted", spellcheck: "false", placeholder: FOR_EXAMPLE });
  const load = button("Load", () => void attempt(() => takeArrays(readJson("pasted", pasted.value))));
  const ways = [
    fileButton("Open npy, JSON or safetensors…", "arrays", ".npy,.json,.safetensors", (files) => void readLater(files)),
    h("div", { class: "field" }, h("label", { for: "pasted" }, "or paste JSON"), pasted, load),
    button("Ask MiniLM (91 MB)", () => void askSite()),
  ];
  const help = HELP.map((text) => h("p", { class: "small-label" }, text));
  const inside = [...help, h("div", { class: "controls-options" }, ...ways), list, message, panel.element];
  const summary = h("summary", {}, "Bring your own arrays, or a model");
  const element = h("details", { class: "bringing" }, summary, ...inside);
  listenToDrops((files) => {
    element.open = true;
    void readLater(files);
  });
  // The front page's "Ask MiniLM" leads here; the store keeps no such word in the address.
  if (new URLSearchParams(location.hash.slice(1)).has("ask")) void askSite();
  return {
    element,
    /** Said where the address asks for what is not there. */
    show: (isMissing: boolean): void => {
      if (!isMissing || message.textContent !== "") return;
      element.open = true;
      const isText = store.state.text !== INITIAL.text;
      if (isText) panel.ask();
      const where = "The arrays, or the model, of this address are on the device that it comes from.";
      message.textContent = `${where} Until you bring some, the example stands in. ${isText ? WAITS : ""}`;
    },
  };
}

/** Refuses where the site lacks them. */
async function siteModel(): Promise<File[]> {
  const files: File[] = [];
  for (const name of ["config.json", "tokenizer.json", "model.safetensors"]) {
    const answer = await fetch(new URL(FOLDER + name, document.baseURI));
    const isPage = answer.headers.get("content-type")?.includes("html") === true;
    const help = "Drop its config.json, tokenizer.json and model.safetensors here: they stay on this device.";
    if (!answer.ok || isPage) refuse(`This site has no ${name} of all-MiniLM-L6-v2. ${help} ${WAITS}`);
    files.push(new File([await answer.blob()], name));
  }
  return files;
}

/** Of files, anywhere on the page. */
function listenToDrops(dropped: (files: readonly File[]) => void): void {
  const { body } = document;
  document.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    body.classList.add("dropping");
  });
  document.addEventListener("dragleave", ({ relatedTarget }) => {
    if (relatedTarget === null) body.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    body.classList.remove("dropping");
    const files = Array.from(event.dataTransfer?.files ?? []);
    if (files.length === 0) return;
    event.preventDefault();
    dropped(files);
  });
}
