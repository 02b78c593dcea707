// How the demo is built: static files that work from any subfolder, importing `heed` as its users do.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { apart } from "./apart.js";
import { DOCUMENT_PAGES, documents } from "./documents.js";
import { FRONT, frame, PAGES, SPEED, THREAD } from "./frame.js";
import { keepOffline } from "./keep-offline.js";
import { minilm } from "./minilm.js";
import { notices } from "./notices.js";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Without these two the page is not cross-origin isolated, and heed takes the variant without shared memory. */
const isolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** The strictest policy that heed needs: no eval, only WebAssembly, and a worker from a blob. */
const policy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
].join("; ");

/** Only in the built page: Vite's development server puts styles inline. */
function contentSecurityPolicy(): Plugin {
  return {
    name: "content-security-policy",
    apply: "build",
    transformIndexHtml: () => [
      { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: policy }, injectTo: "head-prepend" },
    ],
  };
}

/** The headers for hosts that read them from a file of this name. */
function headersFile(): Plugin {
  const lines = Object.entries(isolation).map(([name, value]) => `  ${name}: ${value}\n`);
  return {
    name: "headers-file",
    apply: "build",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "_headers", source: `/*\n${lines.join("")}` });
    },
  };
}

/** `heed` from its own exports map, as in node_modules; HEED_SOURCE=1 takes the sources, for work on the package. */
function heedEntries(): { find: RegExp; replacement: string }[] {
  const { exports }: { exports: Record<string, string | { types: string; default: string }> } = JSON.parse(
    readFileSync(at("../package.json"), "utf8"),
  );
  const fromSource = process.env["HEED_SOURCE"] === "1";
  return Object.entries(exports).flatMap(([entry, target]) => {
    if (typeof target === "string") return [];
    const file = fromSource ? target.types.replace("dist", "web/src").replace(".d.ts", ".ts") : target.default;
    return { find: new RegExp(`^heed${entry.slice(1)}$`), replacement: at(`../${file}`) };
  });
}

export default defineConfig({
  root: at("."),
  base: "./",
  // A file that is missing is missing, and not the front page.
  appType: "mpa",
  plugins: [documents(), frame(), contentSecurityPolicy(), headersFile(), minilm(), notices(), keepOffline()],
  css: { postcss: { plugins: [apart] } },
  resolve: { alias: heedEntries() },
  server: { headers: isolation },
  preview: { headers: isolation },
  // What heed loads late is a file of its own in a worker too.
  worker: { format: "es" },
  build: {
    outDir: at("dist"),
    emptyOutDir: true,
    target: "es2022",
    cssTarget: ["chrome123", "firefox128", "safari17.5"],
    modulePreload: { polyfill: false },
    rolldownOptions: { input: [FRONT, THREAD, SPEED, ...PAGES.map(({ file }) => file), ...DOCUMENT_PAGES].map(at) },
  },
});
