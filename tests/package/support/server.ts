// Serves folders as a plain static host does: with the headers that a test asks for, compressed, and no cleverness.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { brotliCompressSync } from "node:zlib";

export interface Site {
  /** Ends in a slash. */
  readonly address: string;
  /** The same server under another origin. */
  readonly elsewhere: string;
  close(): void;
}

/** Folders by the path that they are served under, which ends in a slash. */
export type Folders = Readonly<Record<string, string>>;

export type Headers = Readonly<Record<string, string>>;

/** Types by the extension of a file. */
export type Types = Readonly<Record<string, string>>;

const TYPES: Types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
};

/** Each file's bytes as they are sent, by what they are: the best quality takes seconds a file. */
const COMPRESSED = new Map<string, Buffer>();

function compressed(path: string): Buffer {
  const bytes = readFileSync(path);
  const key = createHash("sha256").update(bytes).digest("hex");
  const known = COMPRESSED.get(key) ?? brotliCompressSync(bytes);
  COMPRESSED.set(key, known);
  return known;
}

export async function serve(folders: Folders, headers: Headers = {}, types: Types = {}): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    try {
      const path = fileAt(folders, pathname);
      const body = compressed(path);
      const type = { ...TYPES, ...types }[extname(path)] ?? "application/octet-stream";
      // With its length a body comes in one piece. Browsers count the marks between several as if they were of it.
      const own = { "Content-Type": type, "Content-Encoding": "br", "Content-Length": body.length };
      response.writeHead(200, { ...own, ...headers }).end(body);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  await new Promise<void>((done) => server.listen(0, done));
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("the server has no port");
  return {
    address: `http://127.0.0.1:${at.port}/`,
    elsewhere: `http://localhost:${at.port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function fileAt(folders: Folders, pathname: string): string {
  const prefix = Object.keys(folders)
    .filter((one) => pathname.startsWith(one))
    .sort((a, b) => b.length - a.length)[0];
  const folder = prefix === undefined ? undefined : folders[prefix];
  if (prefix === undefined || folder === undefined) throw new Error("no such folder");
  const inside = normalize(pathname.slice(prefix.length) || "index.html");
  if (inside.startsWith("..")) throw new Error("outside");
  return join(folder, inside);
}

/** What makes a page cross-origin isolated. */
export const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** The least that a policy must grant for WebAssembly. */
export const STRICT = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
