// Serves the bench's pages, the built package and the installed peers from this machine: cross-origin isolated, or not.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import typescript from "typescript";
import { build } from "vite";

const web = fileURLToPath(new URL("../", import.meta.url));
const root = join(web, "..", "..");

/** The folder that the first part of a path names. @type {Record<string, string>} */
const FOLDERS = {
  pages: join(web, "pages"),
  peers: join(web, "node_modules"),
  bundled: join(web, "node_modules"),
  dist: join(root, "dist"),
  docs: join(root, "docs"),
  peaks: join(root, "build"),
};

/** @type {Record<string, string>} */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/**
 * `policy`: a content security policy. `others`: more folders, by the names under which pages find them.
 * @param {{ isolated: boolean, policy?: string | undefined, others?: Record<string, string> }} options
 * @returns {Promise<{ address: string, close(): void }>}
 */
export async function serve({ isolated, policy, others }) {
  const headers = {
    ...(isolated && ISOLATION),
    ...(policy !== undefined && { "Content-Security-Policy": policy }),
    "Cache-Control": "no-store",
  };
  const folders = { ...FOLDERS, ...others };
  const server = createServer(async (request, response) => {
    try {
      const { body, type } = await read(folders, new URL(request.url ?? "/", "http://localhost").pathname);
      response.writeHead(200, { ...headers, "Content-Type": type }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("the server has no port");
  return { address: `http://127.0.0.1:${at.port}`, close: () => server.close() };
}

/** @param {Record<string, string>} folders @param {string} pathname */
async function read(folders, pathname) {
  const [, folder = "", ...rest] = normalize(pathname).split("/");
  const base = folders[folder];
  if (base === undefined) throw new Error(`nothing is served from ${folder}`);
  const path = join(base, ...rest);
  // The pages are TypeScript: a request for a .js module is answered with its transpiled source.
  if (folder === "pages" && /\.[jt]s$/.test(path))
    return { body: script(path.replace(/\.js$/, ".ts")), type: TYPES[".js"] };
  if (folder === "bundled") return { body: await bundled(path), type: TYPES[".js"] };
  return { body: readFileSync(path), type: TYPES[extname(path)] ?? "application/octet-stream" };
}

/** A module of a peer with all that it imports, where it imports as only bundlers resolve it. @param {string} entry */
async function bundled(entry) {
  const made = await build({
    configFile: false,
    logLevel: "warn",
    build: { write: false, lib: { entry, formats: ["es"] } },
  });
  const [first] = [made].flat();
  if (first === undefined || !("output" in first)) throw new Error(`${entry} was not bundled`);
  return first.output[0].code;
}

/** Transpiled scripts, so that a page that is timed from its first import does not wait for the compiler. @type {Map<string, string>} */
const scripts = new Map();

/** @param {string} path */
function script(path) {
  const made = scripts.get(path) ?? transpiled(path);
  scripts.set(path, made);
  return made;
}

/** @param {string} path */
function transpiled(path) {
  const { outputText } = typescript.transpileModule(readFileSync(path, "utf8"), {
    compilerOptions: {
      target: typescript.ScriptTarget.ES2022,
      module: typescript.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  });
  return outputText;
}
