// Which head looks at what followed last time: for each word that stands here again, the weight on the word after its earlier place.

import { HEADS } from "../../src/language/words.js";
import { percent } from "../../src/ui/numbers.js";
import { type Picture, picture } from "../../src/ui/picture.js";
import { presets } from "../../src/ui/presets.js";
import { Bars } from "./bars.js";
import type { LanguageScene } from "./scene.js";
import { headName, type LanguageStore, wordsOf } from "./state.js";

/** A lesson of its grammar, and words that it never saw in this order. */
const TRY = [
  { name: "a sentence that it knows", text: "susan gave mary the ring . who got the ring ? mary" },
  { name: "random words, twice", text: "tom book lake tired mary hand bridge tom book lake tired mary hand" },
];
/** Times an even look, from which on a head is said to do it. */
const CLEARLY = 3;

export interface Found {
  readonly head: number;
  /** The mean weight. */
  readonly share: number;
}

/** The heads, the best first, and the weight that a look at all words alike would have. */
export function ranked({ words, columns, state, reading }: LanguageScene): { all: readonly Found[]; even: number } {
  const ids = columns.map((at) => words[at]?.id);
  const pairs = ids.flatMap((id, query) => {
    const before = ids.slice(0, query).lastIndexOf(id);
    return before < 0 ? [] : [{ query, key: before + 1 }];
  });
  const mean = (of: (query: number, key: number) => number): number =>
    pairs.reduce((sum, { query, key }) => sum + of(query, key), 0) / pairs.length;
  const heads = pairs.length === 0 ? [] : (reading?.layers.flatMap(({ weights }) => weights) ?? []);
  return {
    all: heads
      .map((rows, head) => ({ head, share: mean((query, key) => rows[query]?.[key] ?? 0) }))
      .sort((a, b) => b.share - a.share),
    even: mean((query) => 1 / (state.kind === "causal" ? query + 1 : ids.length)),
  };
}

export class Induction {
  readonly picture: Picture;
  readonly #bars: Bars;
  #found: readonly Found[] = [];

  constructor(store: LanguageStore, heads: number) {
    this.#bars = new Bars("told-head", heads, (head, held) => {
      if (held) store.change({ head }, "new");
    });
    this.picture = picture({
      name: "induction",
      title: "Which head looks at what followed last time?",
      body: [this.#bars.element],
      controls: [
        presets("Try", TRY, ({ text }) =>
          store.change({ kind: "causal", text, at: wordsOf(text).length, wrote: [], off: [] }, "new"),
        ),
      ],
      data: () => this.#found,
    });
  }

  show(scene: LanguageScene): void {
    const { all, even } = ranked(scene);
    this.#found = all;
    const bars = all.map(({ head, share }) => ({
      ...{ value: head, share, mark: even, text: percent(share) },
      name: `${Math.floor(head / HEADS) + 1} · ${(head % HEADS) + 1}`,
    }));
    this.#bars.show("Layer and head; dashed, an even look", bars, scene.state.head);
    this.picture.say(textOf(all, even));
  }
}

function textOf([best]: readonly Found[], even: number): string {
  if (best === undefined) return "No word stands here twice. Try a sentence with a repeat.";
  const found = `${headName(best.head)} has ${percent(best.share)} of its weight there, an even look ${percent(even)}`;
  return best.share > CLEARLY * even
    ? `Mean over all words that repeat: ${found}. Is this a rule, “find this word, read the next”, or a place in sentences that it knows? Try random words.`
    : `None: ${found}. A larger model has induction heads, which continue any repeat; this small one learnt where words stand in its sentences.`;
}
