// Two small tables: what goes into a network and out of it, and the three attentions of the Transformer.

import { h } from "../../src/ui/dom.js";
import { heads, line, tableFrame } from "../../src/ui/table.js";

const KINDS = [
  ["label → sequence", "■ → ▪▪▪▪▪", "one vector is written out: a caption of a picture", ""],
  ["sequence → label", "▪▪▪▪▪ → ■", "a mean over all outputs, pooling, forgets their order", "order.html"],
  ["sequence → sequence", "▪▪▪▪▪ → ▪▪▪▪", "a date here, a sentence elsewhere", "#"],
] as const;

const ATTENTIONS = [
  ["self, in the encoder", "the text", "the text", "sees both sides", "language.html"],
  ["self, in the decoder", "the answer", "the answer", "masked: only what is written", "language.html#mask=causal"],
  ["cross", "the decoder", "the encoder", "sees the whole text", "#"],
] as const;

const WHERE: Readonly<Record<string, string>> = {
  "#": "this room",
  "order.html": "Order",
  "language.html": "Language, BERT",
  "language.html#mask=causal": "Language, GPT",
};

export function kindsOfModels(): HTMLElement {
  return h(
    "section",
    { class: "picture", "data-picture": "kinds" },
    h("h2", {}, "Where this stands"),
    table("What goes in and comes out", ["", "", "as in", "see"], KINDS),
    table(
      "The Transformer attends in three ways",
      ["", "queries from", "keys, values from", "mask", "see"],
      ATTENTIONS,
    ),
  );
}

function table(caption: string, names: readonly string[], rows: readonly (readonly string[])[]): HTMLElement {
  const lines = rows.map(([name = "", ...cells]) => line(name, [...cells.slice(0, -1), linkTo(cells.at(-1) ?? "")]));
  const all = [h("caption", {}, caption), heads(...names), h("tbody", {}, ...lines)];
  return tableFrame(caption, h("table", { class: "plain-table" }, ...all));
}

function linkTo(address: string): Node | string {
  const name = WHERE[address] ?? "";
  return name === "" || address === "#" ? name : h("a", { class: "link", href: `./${address}` }, name);
}
