// The examples of a document as programs. A statement with a comment behind it claims that it gives what the comment says.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { deserialize } from "node:v8";

export interface Example {
  readonly heading: string;
  readonly program: string;
}

export interface Claim {
  readonly line: string;
  /** Of an error, its code. */
  readonly got: unknown;
  readonly claimed: unknown;
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const CLAIM = /^(.+); \/\/ (.+)$/gm;
const THROWS = /^throws (\S+)$/;

/** One for each block under a heading, after those above the first heading. Throws where a section claims nothing. */
export function examplesOf(markdown: string): Example[] {
  const [opening = "", ...sections] = markdown.split(/^(?=##+ )/m);
  const shared = blocksOf(opening).join("");
  return sections.flatMap((section) => {
    const [heading = ""] = section.split("\n", 1);
    const blocks = blocksOf(section);
    if (blocks.length === 0) throw new Error(`${heading}: there is no example`);
    return blocks.map((block) => {
      if (block.search(CLAIM) === -1) throw new Error(`${heading}: an example claims nothing`);
      return { heading, program: BEFORE + shared + block.replace(CLAIM, toCheck) + AFTER };
    });
  });
}

function blocksOf(markdown: string): string[] {
  return Array.from(markdown.matchAll(/^```js\n(.*?)^```$/gms), ([, code = ""]) => code);
}

const BEFORE = `import { serialize } from "node:v8";
const $claims = [];
const $check = async (line, act, claimed) => $claims.push({ line, got: await act(), claimed });
const $codeOf = (act) => act().then(() => "nothing", (error) => error.code ?? String(error));
`;
const AFTER = `process.stdout.write(serialize($claims).toString("base64"));`;

function toCheck(line: string, statement: string, claimed: string): string {
  const act = `async () => ${statement}`;
  const [, code] = THROWS.exec(claimed) ?? [];
  const rest = code === undefined ? `${act}, ${claimed}` : `() => $codeOf(${act}), ${JSON.stringify(code)}`;
  return `await $check(${JSON.stringify(line)}, ${rest});`;
}

/** Runs in Node, with the package as it was built. */
export async function run({ program }: Example): Promise<readonly Claim[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
  });
  return deserialize(Buffer.from(stdout, "base64"));
}

/** Numbers to within 1e-6, lists of any kind number by number, objects field by field. */
export function isTrue({ got, claimed }: Omit<Claim, "line">): boolean {
  if (typeof got === "number" && typeof claimed === "number") {
    return Object.is(got, claimed) || Math.abs(got - claimed) <= 1e-6;
  }
  if (isList(got) && isList(claimed)) {
    return got.length === claimed.length && claimed.every((one, at) => isTrue({ got: got[at], claimed: one }));
  }
  if (isRecord(got) && isRecord(claimed)) {
    const names = Object.keys(claimed);
    return (
      Object.keys(got).length === names.length &&
      names.every((name) => isTrue({ got: got[name], claimed: claimed[name] }))
    );
  }
  return got === claimed;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) || ArrayBuffer.isView(value);
}
