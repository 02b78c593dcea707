// One's own sentence, read by the small language model: arcs of the word in the light, and what the model goes on with.

import { type FlowSelection, HeedFlow } from "heed/viz";
import { saidOf } from "../../src/language/said.js";
import { loadedOnce } from "../../src/model/loaded-once.js";
import { choice } from "../../src/ui/controls.js";
import { button, find, on } from "../../src/ui/dom.js";
import type { Reading } from "./language.js";
import type { FrontStore } from "./state.js";

const HEADS = ["1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"];
const TRY: readonly (readonly [string, string])[] = [
  ["tired", "the dog didn't cross the road because it was tired . it was the"],
  ["wide", "the dog didn't cross the road because it was wide . it was the"],
  ["who got it", "susan gave mary the ring . who got the ring ?"],
  ["who gave it", "susan gave mary the ring . who gave the ring ?"],
];

/** Shows what the store holds; `before`: what it held until now. */
export function ownSentence(store: FrontStore): (before?: { readonly text: string }) => void {
  const field = find("#sentence", HTMLInputElement);
  const flow = find("#own heed-flow", HeedFlow);
  const said = find("#own-said", HTMLElement);
  const offered = HEADS.map((value) => ({ value, text: value.replace(".", " · ") }));
  const heads = choice("Layer and head", offered, (ownHead) => store.change({ ownHead }, "new"));
  const open = loadedOnce(async () => {
    const { KNOWN, openLanguage } = await import("./language.js");
    find("#own-words", HTMLElement).textContent = KNOWN.join(" ");
    return openLanguage();
  });
  /** The last sentence that was asked for: an answer to another one comes too late. */
  let asked: string | undefined;
  let reading: Reading | undefined;
  let asker = -1;

  async function read(): Promise<void> {
    const { text } = store.state;
    asked = text;
    try {
      const found = await (await open("causal"))(text);
      if (asked !== text) return;
      reading = found;
      asker = found.places.at(-1) ?? -1;
      draw();
    } catch (error) {
      said.textContent = `The model could not be read: ${error instanceof Error ? error.message : String(error)}.`;
    }
  }

  function draw(): void {
    if (reading === undefined) return;
    const { words, places, unknown, layers, next, tooLong } = reading;
    const [layer = 0, head = 0] = store.state.ownHead.split(".").map((part) => Number(part) - 1);
    const rows = layers[layer]?.weights[head] ?? [];
    const shares = words.map((_, word) => {
      const row = rows[places.indexOf(word)];
      return row && words.map((_, key) => row[places.indexOf(key)] ?? 0);
    });
    const last = places.at(-1) ?? -1;
    const goesOn = last === words.length - 1 ? "It goes on with " : `After “${words[last]}” it goes on with `;
    flow.show({ words, shares, hidden: new Set(), asker, noted: (word) => unknown.includes(word) });
    said.replaceChildren(
      ...(next.length === 0 ? ["It knows none of these words."] : [goesOn, ...saidOf(next), "."]),
      unknown.length === 0 ? "" : " Dotted words it does not know, and skips.",
      tooLong,
    );
  }

  flow.still = true;
  find("#own-heads", HTMLElement).replaceChildren(heads.element);
  field.addEventListener("input", () => store.change({ text: field.value }, "run"));
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    seen.disconnect();
    void read();
  });
  seen.observe(flow);
  const examples = TRY.map(([name, text]) => button(name, () => store.change({ text }, "new"), "link"));
  find("#own-examples", HTMLElement).append(...examples);
  on<FlowSelection>(flow, "select", ({ word }) => {
    if (reading?.places.includes(word)) asker = word;
    draw();
  });
  return (before) => {
    const { text, ownHead } = store.state;
    if (field.value !== text) field.value = text;
    heads.show(ownHead);
    if (before !== undefined && before.text !== text) void read();
    else draw();
  };
}
