// How the built site can be kept: a service worker in its root that knows all of its files, and their size in the footer of every page.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const WORKER = "offline.js";
/** Where frame.ts leaves room for the size; served from sources there is nothing to keep. */
const SIZE = "%SIZE%";

export function keepOffline(): Plugin {
  return {
    name: "keep-offline",
    apply: "build",
    buildStart() {
      this.emitFile({
        type: "chunk",
        id: fileURLToPath(new URL("./offline/worker.ts", import.meta.url)),
        fileName: WORKER,
      });
    },
    // Files from public/ are there as well by now.
    writeBundle({ dir = "" }) {
      // Hosts read _headers and do not serve it.
      const files = filesOf(dir).filter((file) => ![WORKER, "_headers"].includes(file) && !file.startsWith("models/"));
      const contents = files.map((file) => readFileSync(join(dir, file)));
      const size = contents.reduce((sum, { length }) => sum + length, 0);
      files.forEach((file, index) => {
        const text = file.endsWith(".html") ? contents[index]?.toString("utf8") : undefined;
        if (text !== undefined) writeFileSync(join(dir, file), text.replace(SIZE, String(size)));
      });
      const worker = readFileSync(join(dir, WORKER), "utf8");
      const build = createHash("sha256").update(worker);
      for (const content of contents) build.update(content);
      const known = `const FILES = ${JSON.stringify(files)};\nconst BUILD = "${build.digest("hex").slice(0, 16)}";\n`;
      writeFileSync(join(dir, WORKER), known + worker);
    },
  };
}

/** Relative, as in addresses. */
function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}
