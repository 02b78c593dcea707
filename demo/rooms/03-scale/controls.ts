// What can be chosen: width, scale, temperature, keys, and how much one key resembles the query.

import { choice } from "../../src/ui/choice.js";
import { button } from "../../src/ui/dom.js";
import { exact } from "../../src/ui/numbers.js";
import { slider } from "../../src/ui/slider.js";
import { LEAST_KEYS, MOST_KEYS, type ScaleStore, TEMPERATURES, WIDTHS } from "./state.js";

export function controls(store: ScaleStore) {
  const width = slider("Width d", WIDTHS, (value) => store.change({ width: value }));
  const temperature = slider("Temperature T", TEMPERATURES, (value) => store.change({ temperature: value }));
  const keys = slider("Keys n", { least: LEAST_KEYS, most: MOST_KEYS, step: 1 }, (value) =>
    store.change({ keys: value }),
  );
  const likeness = slider("Key 1 resembles q", { least: 0, most: 0.9, step: 0.1 }, (value) =>
    store.change({ likeness: value }),
  );
  const scaling = choice("Divide scores by √d", { none: "no", root: "yes" }, (value) =>
    store.change({ scaling: value }, "new"),
  );
  const again = button("Draw again", () => store.change({ seed: store.state.seed + 1 }));
  return {
    controls: [width.element, scaling.element],
    more: [temperature.element, keys.element, likeness.element, again],
    show: () => {
      const { state } = store;
      width.show(state.width, String(state.width));
      temperature.show(state.temperature, String(state.temperature));
      keys.show(state.keys, String(state.keys));
      likeness.show(state.likeness, exact(state.likeness, 1));
      scaling.show(state.scaling);
      again.title = `Draw ${state.seed} of 9999`;
    },
  };
}
