// Numbers and tensors as source code, for heed and for PyTorch, and how it is copied.

import { formatSingle } from "heed/viz";
import type { Call, Tensor } from "../engine/engine.js";
import { type Matrix, rowsOf, unstack } from "../model/matrix.js";

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

interface Source {
  /** The first line of the code; none where it is empty. */
  readonly about: string;
  readonly call: Pick<Call, "q" | "k" | "v">;
}

interface HeedSource extends Source {
  readonly options: object;
  /** Said of the values. */
  readonly values?: string;
  readonly results?: string;
  /** What follows the call, before its output is printed. */
  readonly then?: string;
  readonly imports?: string;
}

/** Said of values that are the identity. */
export const IDENTITY = "// The identity as values: the output is the weights.\n";

/** A call of heed as it is made on the page. */
export function heedSource(source: HeedSource): string {
  const { about, call, options, values = "", results = "output", then = "", imports = "" } = source;
  const lines = Object.entries(options).map(([name, value]) => `  ${name}: ${written(value)},\n`);
  const [q, k, v] = tensorsOf(call, heedTensor);
  const body = `${q}
${k}
${values}${v}

const { ${results} } = await heed.attention(q, k, v, {
${lines.join("")}});
${then}`;
  return heedProgram(about, body.trimEnd(), "output.shape, output.data", imports);
}

/** `rest`: from the tensors to the output. */
export function torchSource({ about, call }: Source, rest: string, print = "output.shape, output"): string {
  const body = `${tensorsOf(call, torchTensor).join("\n")}\n${rest}`;
  return torchProgram(about, body.trimEnd(), print, true);
}

function tensorsOf(call: Source["call"], source: typeof heedTensor): readonly string[] {
  const matricesOf = ({ data, shape: [, heads = 1, rows = 0, cols = 0] }: Tensor): readonly Matrix[] =>
    Array.from({ length: heads }, (_, head) => unstack(rows, cols, data, head));
  return (["q", "k", "v"] as const).map((name) => source(name, matricesOf(call[name])));
}

/** A value as source code; a function gives its own. */
function written(value: unknown): string {
  if (typeof value === "function") return String(value());
  if (typeof value === "number") return single(value);
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value instanceof Float32Array || value instanceof Uint8Array)
    return `${value.constructor.name}.of(${Array.from(value, single).join(", ")})`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(([name, one]) => `${name}: ${written(one)}`);
  return `{ ${parts.join(", ")} }`;
}

/** A whole program of heed's: what it is about, what it does, and what it prints. */
export function heedProgram(about: string, body: string, print = "output.data", imports = ""): string {
  return `${about === "" ? "" : `// ${about}\n`}import { createHeed } from "heed";
${imports}
const heed = await createHeed();
${body}
console.log(${print});
heed.dispose();
`;
}

/** The same for PyTorch, whose functions are imported where they are used. */
export function torchProgram(about: string, body: string, print = "output", usesF = /\bF\./.test(body)): string {
  return `# ${about}
import torch
${usesF ? "import torch.nn.functional as F\n" : ""}
${body}
print(${print})
`;
}

const SHOWN_FOR = 1600;

/** Copies text, and says on the button and to whoever calls whether that worked. */
export async function copyFrom(button: HTMLButtonElement, text: string): Promise<boolean> {
  const before = button.textContent ?? "";
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = isCopied ? "Copied" : "Not allowed here";
  button.disabled = true;
  setTimeout(() => {
    button.textContent = before;
    button.disabled = false;
  }, SHOWN_FOR);
  return isCopied === true;
}

function shapeOf(heads: readonly Matrix[]): readonly number[] {
  return [1, heads.length, heads[0]?.rows ?? 0, heads[0]?.cols ?? 0];
}

function lines(heads: readonly Matrix[]): string {
  const rows = heads.flatMap((matrix) => rowsOf(matrix).map((row) => row.map(single).join(", ")));
  return rows.map((row) => `    ${row}`).join(",\n");
}
