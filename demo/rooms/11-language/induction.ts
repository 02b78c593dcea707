// Which head looks at what followed last time: for each word that stands here again, the weight on the word after its earlier place.

import { HEADS, LAYERS, LONGEST } from "../../src/language/words.js";
import { presets } from "../../src/ui/controls.js";
import { percent } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { barList } from "./bars.js";
import type { LanguageScene } from "./scene.js";
import { headName, type LanguageStore, shortHead } from "./state.js";

/** A lesson of its grammar, and words that it never saw in this order. */
const TRY = [
  { name: "a sentence that it knows", text: "susan gave mary the ring . who got the ring ? mary" },
  { name: "random words, twice", text: "tom book lake tired mary hand bridge tom book lake tired mary hand" },
];
/** Times an even look, from which on a head is said to do it. */
const CLEARLY = 3;

/** With its mean weight. */
type Found = Readonly<Record<"head" | "weight", number>>;

/** The heads, the best first, and the weight that a look at all words alike would have. */
function ranked({ words, columns, state, reading }: LanguageScene): { all: readonly Found[]; even: number } {
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
      .map((rows, head) => ({ head, weight: mean((query, key) => rows[query]?.[key] ?? 0) }))
      .sort((a, b) => b.weight - a.weight),
    even: mean((query) => 1 / (state.kind === "causal" ? query + 1 : ids.length)),
  };
}

export function inductionPicture(store: LanguageStore) {
  let found: readonly Found[] = [];
  const bars = barList("told-head", LAYERS * HEADS, (head, held) => {
    if (held) store.change({ head }, "new");
  });
  const { element, say } = picture({
    name: "induction",
    title: "Which head looks at what followed last time?",
    body: [bars.element],
    controls: [
      presets("Try", TRY, ({ text }) => store.change({ kind: "causal", text, at: LONGEST, wrote: [], off: [] }, "new")),
    ],
    data: () => found,
  });
  return {
    element,
    show: (scene: LanguageScene): void => {
      const { all, even } = ranked(scene);
      found = all;
      const shown = all.map(({ head, weight }) => {
        return { value: head, name: shortHead(head), size: weight, text: percent(weight), mark: even };
      });
      bars.show("Layer · head; the line: a look at all words alike", shown, scene.state.head);
      say(textOf(all, even));
    },
  };
}

function textOf([best]: readonly Found[], even: number): string {
  if (best === undefined) return "No word stands here twice. Try a sentence with a repeat.";
  const found = `${headName(best.head)} has ${percent(best.weight)} of its weight there, an even look ${percent(even)}`;
  return best.weight > CLEARLY * even
    ? `Mean over all words that repeat: ${found}. Is this a rule, “find this word, read the next”, or a place in sentences that it knows? Try random words.`
    : `None: ${found}. A larger model has induction heads, which continue any repeat; this small one learnt where words stand in its sentences.`;
}
