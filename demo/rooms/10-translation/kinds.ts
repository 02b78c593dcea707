// Two small tables: what goes into a network and out of it, and the three attentions of the Transformer.

import { h, heads, line, tableFrame } from "../../src/ui/dom.js";

const linkTo = (address: string, name: string): Node => h("a", { class: "link", href: `./${address}` }, name);

const HERE = "this room";
const SETS = linkTo("what-else.html#as=set", "Disguises, for sets");
const BERT = linkTo("language.html", "Language, BERT");
const GPT = linkTo("language.html#mask=causal", "Language, GPT");

const HISTORY =
  "In 2015 attention was added to a recurrent network; its weights are an expected correspondence, how likely each character read belongs to the one written. In 2017 the Transformer kept attention and dropped the recurrence: it reads all words at once.";

const KINDS = [
  ["label → sequence", "■ → ▪▪▪▪▪", "one vector is written out: a caption of a picture", ""],
  ["sequence → label", "▪▪▪▪▪ → ■", "a mean over all outputs, pooling, forgets their order", SETS],
  ["sequence → sequence", "▪▪▪▪▪ → ▪▪▪▪", "a date here, a sentence elsewhere", HERE],
] as const;

const WAYS = [
  ["self, in the encoder", "the text", "the text", "sees both sides", BERT],
  ["self, in the decoder", "the answer", "the answer", "masked: only what is written", GPT],
  ["cross", "the decoder", "the encoder", "sees the whole text", HERE],
] as const;

export function kindsOfModels(): HTMLElement {
  const tables = [
    table("What goes in and comes out", ["", "", "as in", "see"], KINDS),
    table("The Transformer attends in three ways", ["", "queries from", "keys, values from", "mask", "see"], WAYS),
  ];
  const history = h("p", { class: "picture-text" }, HISTORY);
  return h(
    "section",
    { class: "picture", "data-picture": "kinds" },
    h("h2", {}, "Where this stands"),
    history,
    ...tables,
  );
}

type Line = readonly [name: string, ...cells: (Node | string)[]];

function table(caption: string, names: readonly string[], rows: readonly Line[]): HTMLElement {
  const lines = rows.map(([name, ...cells]) => line(name, cells));
  const all = [h("caption", {}, caption), heads(...names), h("tbody", {}, ...lines)];
  return tableFrame(caption, h("table", { class: "plain-table" }, ...all));
}
