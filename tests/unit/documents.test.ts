// Every block of code in README, the guides and the examples' README is tried: here those in TypeScript, and commands; TRIED says
// where the others are.

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { expect, test } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { BertModel, saveSafetensors } from "../../web/src/layers/index.js";
import { madeByTransformers } from "../support/model-files.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Block {
  readonly document: string;
  readonly language: string;
  readonly code: string;
}

/** Those whose examples tests/unit/examples.test.ts runs. */
const RUN = [
  ...readdirSync(join(root, "docs/semantics")).map((page) => `docs/semantics/${page}`),
  "docs/models.md",
  "docs/quantization.md",
  "docs/training.md",
];
const DOCUMENTS = ["README.md", "docs/architecture.md", "docs/hosting.md", "docs/performance.md", "docs/semantics.md"];
DOCUMENTS.push("docs/teaching.md", "docs/webgpu.md", "examples/README.md", ...RUN);

const BLOCKS: readonly Block[] = DOCUMENTS.flatMap((document) =>
  Array.from(
    readFileSync(join(root, document), "utf8").matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms),
    ([, language, code]) => ({
      document,
      language: language ?? "",
      code: code ?? "",
    }),
  ),
);

const blocksOf = (document: string, language: string): readonly Block[] =>
  BLOCKS.filter((block) => block.document === document && block.language === language);

/** The number of blocks, and where they are tried. */
const TRIED: Readonly<Record<string, readonly [count: number, by: string]>> = {
  "README.md sh": [2, "here"],
  "README.md js": [3, "tests/package/package.test.ts"],
  "README.md ts": [2, "here"],
  "README.md html": [1, "tests/package/hosting.test.ts"],
  "docs/hosting.md html": [1, "tests/package/hosting.test.ts"],
  "docs/hosting.md js": [4, "tests/package/hosting.test.ts, tests/package/matrix/workerd.test.ts"],
  "docs/hosting.md json": [1, "tests/package/matrix/extension.test.ts"],
  ...Object.fromEntries(
    RUN.map((page) => [`${page} js`, [blocksOf(page, "js").length, "tests/unit/examples.test.ts"]]),
  ),
  "docs/models.md ts": [3, "here"],
  "docs/teaching.md html": [1, "tests/browser/demo/embed.test.ts"],
  "docs/teaching.md js": [1, "tests/browser/demo/embed.test.ts"],
  "docs/training.md ts": [1, "here"],
  "docs/webgpu.md js": [2, "here"],
  "examples/README.md sh": [1, "here"],
};

test("no code of the documents is untried", () => {
  const counts: Record<string, number> = {};
  for (const { document, language } of BLOCKS) {
    // Pictures, and how files lie.
    if (language === "mermaid" || (language === "" && document !== "README.md")) continue;
    const key = `${document} ${language}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  expect(counts).toEqual(Object.fromEntries(Object.entries(TRIED).map(([key, [count]]) => [key, count])));
});

/** These are no dependencies, so their parts are not checked. */
const FOREIGN = `
  declare module "@huggingface/jinja" {
    export class Template { constructor(source: string); render(values: Readonly<Record<string, unknown>>): string; }
  }`;
const ONNX = 'declare module "onnxruntime-web/webgpu" { export const InferenceSession: any, Tensor: any, env: any; }';

test("TypeScript, under strict, compiles what is in it, and what a GPU runs", () => {
  const [losing, lost] = blocksOf("docs/webgpu.md", "js");
  // With what each block names, but does not make.
  const shown = [
    ...[...blocksOf("README.md", "ts"), ...blocksOf("docs/models.md", "ts")].map((block) => [block, ""] as const),
    [
      blocksOf("docs/training.md", "ts")[0],
      `import { loadSafetensors } from "heed/layers";
       declare const adapters: import("heed/train").Lora, file: Uint8Array;`,
    ],
    [losing, "declare const model: Uint8Array, numbers: Float32Array;"],
    [
      lost,
      `declare const device: NonNullable<NonNullable<Parameters<typeof import("heed").createHeed>[0]>["device"]> & { destroy(): void };
       declare const q: import("heed").TensorLike, k: typeof q, v: typeof q;`,
    ],
  ] as const;
  const files = new Map([[join(root, "shown-foreign.d.ts"), ONNX + FOREIGN]]);
  for (const [at, [block, given]] of shown.entries()) {
    files.set(join(root, `shown-${at}.ts`), `${block?.code ?? "there is none"}\n${given}\nexport {};\n`);
  }
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = files.get(name);
    return text === undefined ? getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
  };
  const found = ts.getPreEmitDiagnostics(ts.createProgram([...files.keys()], options, host));
  expect(
    found.map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`),
  ).toEqual([]);
});

test("README's model runs as it stands, and gives each text what it is alone", async () => {
  const { config, parameters } = madeByTransformers("bert");
  const words = ["[UNK]", "who", "is", "tired", "?", "the", "animal", "was", "too", "to", "cross", "street", "."];
  const tokenizer = {
    model: { type: "WordPiece", vocab: Object.fromEntries(words.map((word, id) => [word, id])), unk_token: "[UNK]" },
    normalizer: { type: "BertNormalizer", lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
  };
  const folder = mkdtempSync(join(tmpdir(), "readme-"));
  try {
    writeFileSync(join(folder, "config.json"), JSON.stringify(config));
    writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
    writeFileSync(join(folder, "model.safetensors"), saveSafetensors(parameters));
    const [block] = blocksOf("README.md", "ts");
    const code = block?.code.replace('"/minilm/", { cache: true }', JSON.stringify(folder));
    const program = `${code}\nconsole.log(JSON.stringify({ notes, shape, data: [...data] }));process.exit();`;
    const args = ["--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    const [best, result = ""] = stdout.trim().split("\n");
    expect(best).toMatch(/^(Bread|The animal)/);
    const got: { notes: string[]; shape: number[]; data: number[] } = JSON.parse(result);
    expect(got.shape).toEqual([2, 12]);
    using engine = await createHeed({ backend: "wasm" });
    const model = new BertModel(config, { engine }).load(parameters);
    for (const [at, text] of got.notes.entries()) {
      const ids = (text.toLowerCase().match(/\w+|[?.]/g) ?? []).map((word) => Math.max(0, words.indexOf(word)));
      const { data } = (await model.forward(ids)).hidden;
      // By the definition of a mean.
      const mean = Array.from({ length: 12 }, (_, dim) => {
        return ids.reduce((sum, _, token) => sum + (data[token * 12 + dim] ?? Number.NaN), 0) / ids.length;
      });
      for (let dim = 0; dim < 12; dim++) {
        expect(got.data[at * 12 + dim]).toBeCloseTo((mean[dim] ?? Number.NaN) / Math.hypot(...mean), 5);
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the tests that docs/numerics.md names are there", () => {
  const named = readFileSync(join(root, "docs/numerics.md"), "utf8").match(/tests\/[\w/.-]+\.(?:ts|cpp|hpp)/g) ?? [];
  expect(named.length).toBeGreaterThan(20);
  for (const path of named) expect(existsSync(join(root, path)), path).toBe(true);
});

test("commands name scripts and files that are there", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const lines = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ code }) => code.trim().split("\n"));
  expect(lines.length).toBe(4);
  for (const line of lines) {
    const [program, name = ""] = line.replace(/#.*$/, "").trim().split(/\s+/);
    if (program === "node") expect(existsSync(join(root, name)), line).toBe(true);
    else if (name !== "install") expect(Object.keys(scripts), line).toContain(name);
    else expect(line).toBe("npm install heed");
  }
});
