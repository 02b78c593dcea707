// The licences of what the site holds of others, as a file of the site.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

export const NOTICES = "THIRD-PARTY-NOTICES.txt";

const read = (): string => readFileSync(fileURLToPath(new URL(`../dist/${NOTICES}`, import.meta.url)), "utf8");

export function notices(): Plugin {
  return {
    name: "notices",
    configureServer({ middlewares }) {
      middlewares.use(`/${NOTICES}`, (_request, response) => response.end(read()));
    },
    generateBundle() {
      this.emitFile({ type: "asset", fileName: NOTICES, source: read() });
    },
  };
}
