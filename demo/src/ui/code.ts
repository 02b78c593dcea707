// Numbers and tensors as source code, for heed and for PyTorch, and the two buttons that copy it.

import { formatSingle } from "heed/viz";
import { type Matrix, rowsOf } from "../model/matrix.js";
import { copyFrom } from "./copy.js";
import { button, h } from "./dom.js";

/** As formatSingle, but all digits where eight are too few: so are the texts that PyTorch ran, tests/fixtures/snippets.json. */
export function single(value: number): string {
  const exactly = Math.fround(value);
  return Math.fround(Number(value.toPrecision(8))) === exactly ? formatSingle(value) : String(exactly);
}

/** The text that replaces code when the sentence is empty. */
export const NOTHING = "Nothing to compute: there are no words yet.\n";

/** Matrices of one shape below each other, one line for each row. */
export function heedTensor(name: string, heads: readonly Matrix[], shape = shapeOf(heads)): string {
  return `const ${name} = {\n  data: Float32Array.of(\n${lines(heads)},\n  ),\n  shape: [${shape.join(", ")}],\n};`;
}

export function torchTensor(name: string, heads: readonly Matrix[], shape = shapeOf(heads)): string {
  return `${name} = torch.tensor([\n${lines(heads)},\n], dtype=torch.float32).view(${shape.join(", ")})`;
}

export function codeButtons(heedCode: () => string, torchCode: () => string): HTMLElement {
  const copier = (kind: string, name: string, code: () => string): HTMLElement => {
    const made = button(`Copy as ${name}`, () => void copyFrom(made, code()));
    made.dataset["copy"] = kind;
    return made;
  };
  const all = [copier("heed", "heed", heedCode), copier("torch", "PyTorch", torchCode)];
  return h("div", { class: "code-buttons" }, ...all);
}

function shapeOf(heads: readonly Matrix[]): readonly number[] {
  return [1, heads.length, heads[0]?.rows ?? 0, heads[0]?.cols ?? 0];
}

function lines(heads: readonly Matrix[]): string {
  const rows = heads.flatMap((matrix) => rowsOf(matrix).map((row) => row.map(single).join(", ")));
  return rows.map((row) => `    ${row}`).join(",\n");
}
