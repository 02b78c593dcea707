// A sentence of one's own in the place of the question: read by the tiny model as far as it knows its words, by MiniLM once somebody asks
// for it, or shown as whoever sent the address saw it, for which nothing is loaded.

import { loadedOnce } from "../../src/model/loaded-once.js";
import { wordsIn } from "../../src/model/tokens.js";
import { copyFrom } from "../../src/ui/code.js";
import { presets } from "../../src/ui/controls.js";
import { button, find, goalOf, h } from "../../src/ui/dom.js";
import { arcs } from "./arcs.js";
import { changed, telling } from "./changes.js";
import { pronounIn } from "./detectors.js";
import type { Read } from "./minilm.js";
import { offer } from "./offer.js";
import { headSaid, lossesSaid, rowSaid, type Shown, troubleSaid } from "./own-said.js";
import { type Head, headOf, type Reading, rowOf, spelt } from "./reading.js";
import { MINILM, recordedRow } from "./recorded.js";
import { FRONT_STATE, type FrontStore, HERE, SENTENCE } from "./state.js";
import { strip } from "./strip.js";

const TRY = [
  { name: "tired", text: SENTENCE.replace("wide", "tired") },
  { name: "wide", text: SENTENCE },
  { name: "who got it", text: "susan gave mary the ring . who got the ring ?" },
  { name: "who gave it", text: "susan gave mary the ring . who gave the ring ?" },
];
/** Sentences whose readings are kept. */
const KEPT = 8;

const spoken = (text: string): readonly string[] => wordsIn(text).map((word) => word.text);

/** Words that follow the one before without a space, counted from 1. */
const tightIn = (text: string): readonly number[] =>
  wordsIn(text).flatMap(({ start }, index, all) => (start === all[index - 1]?.end ? [index + 1] : []));

/** Shows what the store holds. */
export function ownSentence(store: FrontStore): () => void {
  const [root, field] = [find("#own", HTMLElement), find("#sentence", HTMLTextAreaElement)];
  const [said, losses] = [find("#own-said", HTMLElement), find("#own-losses", HTMLElement)];
  // It goes to another place below, and would lose the focus.
  const isTyping = document.activeElement === field;
  const choose = (head: Head): void => store.change({ ...HERE, ownHead: spelt(head) }, "run");
  const stage = arcs({ pressed: press, field });
  const heads = strip(choose);
  const edit = button("Change the sentence", () => type(), "link");
  const share = button("Share what you see", () => void copyOrShow(), "link");
  const address = h("input", { type: "text", readonly: true, hidden: true, "aria-label": "The address to share" });
  const forget = button("Forget the change", () => store.change({ was: "" }), "link");
  const readings = new Map<string, Promise<Reading>>();
  const tiny = loadedOnce(async (_: "causal") => (await import("./language.js")).openLanguage());
  let model: Read | undefined;
  let shown: Shown | undefined;
  /** What heads are listed for. */
  let listed: readonly unknown[] = [];
  /** What was asked for last: an answer to something else comes too late. */
  let turn = 0;
  /** The sentence before one began to type. */
  let settled = store.state.text ?? "";

  const { element: offered, need } = offer(
    (read) => {
      model = read;
      readings.clear();
      // What was sent stays in view, by its word and its head.
      store.change(store.state.row.length > 0 ? HERE : { ...HERE, asker: 0, ownHead: "" });
    },
    (done) => root.style.setProperty("--done", String(done)),
  );

  /** A word that asks already is changed, and any where there is nothing to ask. */
  function press(asker: number): void {
    if (shown === undefined || shown.asker === asker) type(asker);
    else store.change({ ...HERE, asker }, "new");
  }

  /** Over a word, or over all of them. */
  function type(place = 0): void {
    const { start, end } = wordsIn(field.value)[place - 1] ?? { start: 0, end: field.value.length };
    field.focus();
    field.setSelectionRange(start, end);
  }

  function readingOf(text: string): Promise<Reading> {
    const read = async (): Promise<Reading> =>
      model === undefined ? (await tiny("causal"))(spoken(text)) : model(text, wordsIn(text));
    const found = readings.get(text) ?? read();
    readings.delete(text);
    readings.set(text, found);
    found.catch(() => readings.delete(text));
    for (const old of [...readings.keys()].slice(0, -KEPT)) readings.delete(old);
    return found;
  }

  /** What the address brought along, where it fits the sentence. */
  function sentFor(words: readonly string[]) {
    const { text, was, asker, ownHead, row, rowWas, by } = store.state;
    if (row.length !== words.length + 1 || asker < 1 || asker > words.length) return undefined;
    const [, layer = 1, head = 1] = /^(\d+)\.(\d+)$/.exec(ownHead)?.map(Number) ?? [];
    const before = rowWas.length === row.length ? rowWas : undefined;
    const sent = { text: text ?? "", was, words, asker, before, by, head: { layer, head } };
    const own = by === MINILM ? recordedRow(sent.text, asker, sent.head) : undefined;
    return { ...sent, row: own ?? row, isRecorded: own !== undefined };
  }

  async function show(): Promise<void> {
    const own = ++turn;
    const { was, asker, ownHead } = store.state;
    const text = store.state.text ?? "";
    const words = spoken(text);
    if (field.value !== text) field.value = text;
    forget.hidden = was === "";
    const sent = sentFor(words);
    if (sent !== undefined) {
      draw(sent);
      const more = " To press other words and heads, read it here.";
      said.replaceChildren(
        sent.isRecorded ? "Recorded. " : "Recorded by the sender. ",
        headSaid(sent, undefined),
        ...rowSaid(sent),
        more,
      );
      return;
    }
    try {
      const { whyNot, unknownIn } = await import("./language.js");
      if (own !== turn) return;
      const reason = (of: readonly string[]): string => (model === undefined ? whyNot(of) : "");
      const why = words.length === 0 ? "Type a sentence." : reason(words);
      if (why !== "") {
        draw(undefined);
        const dotted = model === undefined ? unknownIn(words) : [];
        stage.show({ words, asker: 0, dotted, tight: tightIn(text) });
        said.replaceChildren(dotted.length > 0 ? `${why} MiniLM does.` : why);
        return;
      }
      const isCompared = changed(spoken(was), words).length > 0 && reason(spoken(was)) === "";
      const now = await readingOf(text);
      const before = isCompared ? await readingOf(was).catch(() => undefined) : undefined;
      const place = asker >= 1 && asker <= words.length ? asker : (model && pronounIn(words)) || words.length;
      const head = headOf(now, ownHead) ?? telling(now, place, before ?? (await masked(text).catch(() => undefined)));
      if (own !== turn) return;
      const row = rowOf(now, head, place);
      const rowWas = before && rowOf(before, head, place);
      draw({ text, was, words, asker: place, row, before: rowWas, by: now.by, head }, now, before);
    } catch (error) {
      if (own !== turn) return;
      draw(undefined);
      stage.show({ words, asker: 0, tight: tightIn(text) });
      said.textContent = troubleSaid(error);
    }
  }

  /** The sentence without its last word, which shows the head that minds most. The tiny model has no mark that hides a word. */
  async function masked(text: string): Promise<Reading | undefined> {
    const last = wordsIn(text)
      .filter((word) => /\p{L}/u.test(word.text))
      .at(-1);
    if (model === undefined || last === undefined) return undefined;
    return readingOf(`${text.slice(0, last.start)}[MASK]${text.slice(last.end)}`);
  }

  function draw(next: Shown | undefined, now?: Reading, before?: Reading): void {
    shown = next;
    address.hidden = true;
    root.classList.toggle("unread", next === undefined);
    need(now === undefined);
    heads.element.hidden = now === undefined;
    share.hidden = next === undefined;
    list(next?.asker ?? 0, now, before);
    if (next === undefined) return;
    stage.show({ ...next, tight: tightIn(next.text) });
    if (now === undefined) return;
    heads.show(now, next.head);
    said.replaceChildren(headSaid(next, heads.nameOf(next.head)), ...rowSaid(next), " ", ...(now.also ?? []));
  }

  /** A chip that is pressed stays, and the focus with it. */
  function list(...of: [asker: number, now: Reading | undefined, before: Reading | undefined]): void {
    if (of.every((one, at) => one === listed[at])) return;
    listed = of;
    const [asker, now, before] = of;
    losses.replaceChildren(...(now && before ? lossesSaid(before, now, asker, choose) : []));
  }

  /** Whoever opens it sees the same, and loads nothing. */
  function addressOf(): string {
    if (shown === undefined) return location.href;
    const { text, was, asker, head, row, before, by } = shown;
    const state = { ...store.state, text, was, asker, ownHead: spelt(head), row, rowWas: before ?? [], by };
    return new URL(FRONT_STATE.toHash(state), location.href).href;
  }

  /** Where a page may not copy, the reader may. */
  async function copyOrShow(): Promise<void> {
    address.value = addressOf();
    address.hidden = await copyFrom(share, address.value);
    if (!address.hidden) address.select();
  }

  const change = (text: string, was: string, entry: "run" | "new"): void => {
    const isCompared = changed(spoken(was), spoken(text)).length > 0;
    const asker = isCompared ? store.state.asker : 0;
    store.change({ ...HERE, text, asker, was: isCompared ? was : "", ...(isCompared ? {} : { ownHead: "" }) }, entry);
  };
  const settle = (): void => {
    settled = field.value;
  };
  for (const event of ["focus", "change"]) field.addEventListener(event, settle);
  // A sentence is one line, however many it takes to show.
  field.addEventListener("keydown", (event) => {
    if (goalOf(event, { Enter: true, Escape: true })) field.blur();
  });
  field.addEventListener("input", () => change(field.value, settled, "run"));
  const examples = presets("Try", TRY, ({ text }) => change(text, store.state.text ?? "", "new"));
  find("#own-stage", HTMLElement).replaceChildren(stage.element);
  if (isTyping) field.focus();
  find("#own-tools", HTMLElement).replaceChildren(edit, share, address, forget, examples);
  find("#own-offer", HTMLElement).replaceChildren(offered);
  find("#own-heads", HTMLElement).replaceChildren(heads.element);
  const known = find("#own-words", HTMLElement);
  known.closest("details")?.addEventListener("toggle", async () => {
    known.textContent = (await import("./language.js")).KNOWN.join(" ");
  });
  // Typed before this was here.
  if (store.state.text !== null && field.value !== field.defaultValue) change(field.value, "", "run");
  return () => void show();
}
