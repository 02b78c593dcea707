// Which cabinet, how alike is measured, how hot, and who asks.

import { withBlock } from "../../src/model/matrix.js";
import { choice } from "../../src/ui/choice.js";
import { button } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { byChoice } from "../../src/ui/orientation.js";
import { slider } from "../../src/ui/slider.js";
import { CABINETS, EXAMPLES, type ScoreName } from "./examples.js";
import { asGiven, BANDWIDTHS, type DictionaryStore, exampleOf, matrixOf, TEMPERATURES } from "./state.js";

export function controls(store: DictionaryStore) {
  const example = choice(
    "Cabinet",
    EXAMPLES.map((value) => ({ value, text: CABINETS[value].title })),
    (value) => store.change(asGiven(value), "new"),
  );
  const score = choice<ScoreName>(
    "Alike by",
    { dot: "dot product", cosine: "cosine", rbf: "distance (rbf)" },
    (value) => store.change({ score: value }),
  );
  const temperature = slider("Temperature T", TEMPERATURES, (value) => store.change({ temperature: value }));
  const bandwidth = slider("Bandwidth b", BANDWIDTHS, (value) => store.change({ bandwidth: value }));
  const grade = slider("Ask for a GPA of", { least: 1.5, most: 4.5, step: 0.05 }, (value) =>
    store.change({ q: withBlock(matrixOf(store.state, "q"), 0, 0, [[Number(value.toFixed(2))]]) }),
  );
  const who = choice(
    "Query of",
    CABINETS.movies.queries.map((text, index) => ({ value: String(index), text })),
    (value) => store.change({ asker: Number(value) }),
  );
  const by = byChoice("vector", (value) => store.change({ by: value }));
  const again = button("Reset", () => {
    store.hold(undefined);
    store.change(asGiven(store.state.example), "new");
  });
  return {
    example: example.element,
    controls: [temperature.element, grade.element, who.element],
    more: [score.element, bandwidth.element, again],
    menu: [by.element],
    show: () => {
      const { state } = store;
      example.show(state.example);
      score.show(state.score);
      temperature.show(state.temperature, temperatureName(state.temperature));
      bandwidth.show(state.bandwidth, exact(state.bandwidth, 2));
      bandwidth.element.hidden = state.score !== "rbf";
      grade.element.hidden = state.example !== "salary";
      const asked = matrixOf(state, "q").data[0] ?? 0;
      grade.show(asked, exact(asked, 2));
      who.element.hidden = exampleOf(state).queries.length === 1;
      who.show(String(state.asker));
      by.show(state.by);
    },
  };
}

function temperatureName(temperature: number): string {
  if (temperature === 0) return "0: exact";
  return temperature === Number.POSITIVE_INFINITY ? "∞: average" : String(temperature);
}
