// heed/viz: custom elements that show attention, without dependencies. Importing does nothing; `define` registers them.

import { HeedFlow } from "./flow.js";
import { HeedHeads } from "./heads.js";
import { HeedMatrix } from "./matrix.js";

export type { HeedElements } from "./elements.js";
export { type FlowEvents, type FlowSelection, type FlowView, HeedFlow } from "./flow.js";
export { type HeadsEvents, type HeadsSelection, HeedHeads } from "./heads.js";
export {
  HeedMatrix,
  type Light,
  type MatrixEdit,
  type MatrixEvents,
  type MatrixSelection,
  type MatrixView,
} from "./matrix.js";
export { formatNumber, formatShare, formatSingle, LARGEST_TYPED, parseNumber, WHAT_IS_TYPED } from "./numbers.js";
export { readBlock } from "./paste.js";
export type { Matrix, Weights } from "./weights.js";

/** Registers <heed-matrix>, <heed-heads> and <heed-flow> once. Does nothing on a server, where there are no custom elements. */
export function define(): void {
  if (globalThis.customElements === undefined) return;
  const elements = { "heed-matrix": HeedMatrix, "heed-heads": HeedHeads, "heed-flow": HeedFlow };
  for (const [name, element] of Object.entries(elements)) {
    if (customElements.get(name) === undefined) customElements.define(name, element);
  }
}
