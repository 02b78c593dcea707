// The built demo as files in a folder of its own, served from a subfolder, isolated or not, as any host may serve it.

import { readFileSync, rmSync } from "node:fs";
import { cp, mkdtemp } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { inject } from "vitest";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export interface Site {
  readonly isolated: string;
  readonly plain: string;
  /** Where its files lie. */
  readonly folder: string;
  close(): Promise<void>;
}

export async function openSite(): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), "heed-demo-"));
  await cp(inject("demo"), folder, { recursive: true });
  const [isolated, plain] = [serve(folder, ISOLATION), serve(folder, {})];
  return {
    isolated: await address(isolated),
    plain: await address(plain),
    folder,
    close: async () => {
      await Promise.all([isolated, plain].map((server) => new Promise((done) => server.close(done))));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function serve(folder: string, headers: Record<string, string>): Server {
  return createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const inside = path.startsWith("/some/folder/") ? path.slice("/some/folder/".length) : null;
    const file = inside === null ? null : normalize(inside === "" ? "index.html" : inside);
    try {
      if (file === null || file.startsWith("..")) throw new Error("outside");
      const body = readFileSync(join(folder, file));
      response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
}

function address(server: Server): Promise<string> {
  return new Promise((done) => {
    server.listen(0, "127.0.0.1", () => {
      const at = server.address();
      done(`http://127.0.0.1:${typeof at === "object" && at !== null ? at.port : 0}/some/folder/`);
    });
  });
}
