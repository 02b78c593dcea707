// Eight lines that compute attention, whose numbers one edits and runs. What is typed is read as a number: no text is ever run as code.

import { copyFrom } from "../../src/ui/code.js";
import { button, h } from "../../src/ui/dom.js";
import { parseNumber } from "../../src/ui/numbers.js";

const WORDS = ["animal", "road", "tired"];
/** A number between braces is a field. */
const LINES = `import { attention } from "heed";

const words = ["animal", "road", "tired"];
const q = { data: Float32Array.of({4}, {0}), shape: [1, 2] }; // “it” seeks a noun
const k = { data: Float32Array.of({1}, {0}, {0.8}, {0}, {0}, {1}), shape: [3, 2] };
const { weights } = await attention(q, k, k, { scale: {1}, return: { weights: true } });
const best = weights.data.indexOf(Math.max(...weights.data));
console.log(words[best], weights.data[best].toFixed(2));`;

export function eightLines(): HTMLElement {
  const fields: HTMLInputElement[] = [];
  const parts = LINES.split(/\{(-?[\d.]+)\}/).map((part, at) => {
    if (at % 2 === 0) return part;
    const place = fields.length + 1;
    const field = h("input", { value: part, size: 3, inputmode: "decimal", "aria-label": `Number ${place}` });
    field.addEventListener("keydown", ({ key }) => {
      if (key === "Enter") void run();
    });
    // What stands there is of these numbers.
    field.addEventListener("input", () => {
      if (output.textContent !== "") void run();
    });
    fields.push(field);
    return field;
  });
  const output = h("output", { role: "status" }, "");
  const copy = button("Copy", () => void copyFrom(copy, text()), "link");
  const text = (): string => parts.map((part) => (typeof part === "string" ? part : part.value)).join("");

  async function run(): Promise<void> {
    const values = fields.map(({ value }) => parseNumber(value));
    for (const [at, field] of fields.entries()) field.ariaInvalid = values[at] === null ? "true" : null;
    if (values.includes(null)) {
      output.textContent = "Type numbers, as in 0.5";
      return;
    }
    const numbers = values.map((value) => value ?? 0);
    try {
      const { attention } = await import("heed");
      const q = { data: Float32Array.from(numbers.slice(0, 2)), shape: [1, 2] };
      const k = { data: Float32Array.from(numbers.slice(2, 8)), shape: [3, 2] };
      const { weights } = await attention(q, k, k, { scale: numbers[8] ?? 1, return: { weights: true } });
      const best = weights.data.indexOf(Math.max(...weights.data));
      output.textContent = `${WORDS[best]} ${weights.data[best]?.toFixed(2)}`;
    } catch (error) {
      output.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  const bar = h(
    "div",
    { class: "install" },
    button("Run", () => void run(), "button primary"),
    copy,
    output,
  );
  return h("div", {}, h("div", { class: "lines-code" }, h("code", {}, ...parts)), bar);
}
