// MiniLM for the front page, where whoever builds the site has it: its folder in f16, half the size in which it is published, from the
// folder that the environment variable HEED_MINILM names. Third parties' weights are no part of the repository.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";

const FOLDER = "models/all-MiniLM-L6-v2";
/** Where the front page leaves room for its size; without a size it offers the reader's files. */
const SIZE = "%MINILM%";

export function minilm(folder = process.env["HEED_MINILM"]): Plugin {
  let size = "";
  return {
    name: "minilm",
    apply: "build",
    async buildStart() {
      if (folder === undefined) return;
      const files = await minilmFiles(folder);
      for (const [name, source] of files) this.emitFile({ type: "asset", fileName: `${FOLDER}/${name}`, source });
      size = String([...files.values()].reduce((sum, { length }) => sum + length, 0));
    },
    transformIndexHtml: (html) => html.replace(SIZE, size),
  };
}

/** By heed itself, as it was built. */
export async function minilmFiles(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const { loadModel }: typeof import("heed/models") = await import(new URL("../dist/models.js", import.meta.url).href);
  const model = await loadModel(folder);
  const files = await model.save({ dtype: "f16" });
  model.dispose();
  return files.set("tokenizer.json", new Uint8Array(await readFile(join(folder, "tokenizer.json"))));
}
