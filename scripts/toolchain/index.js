// The toolchain by hand: `node scripts/toolchain` finds or fetches everything and says what it chose;
// `node scripts/toolchain wasm format` only that; `--export FILE` also writes the environment for a shell to read.

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { Failure, note } from "../lib/steps.js";
import { ALL_NEEDS, findToolchain } from "./find.js";

const { values, positionals } = parseArgs({ options: { export: { type: "string" } }, allowPositionals: true });
const need = ALL_NEEDS.filter((name) => positionals.length === 0 || positionals.includes(name));
const unknown = positionals.filter((word) => !ALL_NEEDS.some((name) => name === word));
if (unknown.length > 0) throw new Failure(`unknown: ${unknown.join(", ")}. Known: ${ALL_NEEDS.join(", ")}`);

const { additions } = await findToolchain({ need });
if (values.export !== undefined) {
  const lines = Object.entries(additions).map(
    ([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`,
  );
  await writeFile(values.export, lines.join(""));
  note(`wrote ${values.export}`);
}
