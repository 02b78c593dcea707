// Docs and examples as pages of the site: Markdown and sources as they lie in the repository, in the frame of every page.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";
import type { Plugin } from "vite";
import { API_PAGES, apiPage, escaped } from "./api.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SITE = fileURLToPath(new URL("./", import.meta.url));
const FOLDERS = ["docs", "examples"];
const SHOWN = /\.(?:md|js|jsx)$/;

/** Every document by the page that shows it: "docs/semantics/attention.md" by "docs-semantics-attention.html". */
export const DOCUMENTS: ReadonlyMap<string, string> = new Map(
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
  )
    .filter((path) => SHOWN.test(path) && !path.includes("node_modules"))
    .sort()
    .map((path) => [pageOf(path), path]),
);

/** The list of all docs is a page that no document is. */
const LIST = "docs.html";
export const DOCUMENT_PAGES: readonly string[] = [LIST, ...DOCUMENTS.keys(), ...API_PAGES];

function pageOf(path: string): string {
  return `${path.replace("/README.md", ".md").replace(SHOWN, "").replaceAll("/", "-")}.html`;
}

const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");
/** Of Markdown its heading, of a source its path. */
const titleOf = (path: string): string => /^# (.*)$/m.exec(path.endsWith(".md") ? textOf(path) : "")?.[1] ?? path;

/** As GitHub names headings, by which links point at them. */
const nameOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

/** Where a link leads on the site; undefined where its goal is no page of it. */
function goalOf(from: string, href: string): string | undefined {
  if (/^(?:https:|#)/.test(href)) return href;
  const [path = "", place] = href.split("#");
  const page = pageOf(relative(ROOT, join(ROOT, dirname(from), path)));
  return DOCUMENTS.has(page) ? `./${page}${place === undefined ? "" : `#${place}`}` : undefined;
}

function rendered(path: string): string {
  let tables = 0;
  const marked = new Marked({
    renderer: {
      heading: (text: string, level: number, raw: string) => `<h${level} id="${nameOf(raw)}">${text}</h${level}>\n`,
      link: (href: string, _title, text: string) => {
        const goal = goalOf(path, href);
        return goal === undefined ? text : `<a href="${goal}">${text}</a>`;
      },
      image: (href: string, _title, text: string) => drawing(path, href) ?? text,
      table: (head: string, body: string) =>
        `<div class="table-frame" tabindex="0" role="region" aria-label="Table ${++tables}"><table class="plain-table"><thead>${head}</thead><tbody>${body}</tbody></table></div>\n`,
      code: (text: string) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
    },
  });
  return marked.parse(textOf(path), { async: false }) as string;
}

/** An SVG stands in the page itself. */
function drawing(from: string, href: string): string | undefined {
  const file = join(ROOT, dirname(from), href);
  return href.endsWith(".svg") && existsSync(file) ? readFileSync(file, "utf8").replace(/<\?xml.*?\?>/, "") : undefined;
}

/** A source as it is, with its first comment as what it is about. */
function listed(path: string): string {
  return `<h1>${path}</h1>\n<pre tabindex="0"><code>${escaped(textOf(path))}</code></pre>`;
}

function listOfAll(): string {
  const items = Array.from(DOCUMENTS, ([page, path]) => ({ page, path })).filter(({ path }) =>
    path.startsWith("docs/"),
  );
  const links = items.map(({ page, path }) => `<li><a href="./${page}">${escaped(titleOf(path))}</a></li>`);
  return `<h1>Docs</h1>
<p>heed computes attention in the browser. These pages say what each option means, and how to load models, train and host.</p>
<ul class="doors">${links.join("")}<li><a href="./api.html">API: every name with its type</a></li><li><a href="./examples.html">Examples</a></li></ul>`;
}

function documentOf(path: string | undefined): readonly [title: string, body: string] {
  if (path === undefined) return ["Docs", listOfAll()];
  return [titleOf(path), path.endsWith(".md") ? rendered(path) : listed(path)];
}

/** A page's own part, as other pages of the site have it in a file. */
function contentOf(page: string): string {
  const [title, body] = apiPage(page) ?? documentOf(DOCUMENTS.get(page));
  return `<!-- page 00-documents: ${escaped(title)}: docs and examples of heed, attention in the browser. -->
<title>${escaped(title)} · heed</title>
<article class="document">${body}</article>`;
}

const idOf = (page: string): string => join(SITE, page);
const pageBy = (id: string): string | undefined => DOCUMENT_PAGES.find((page) => idOf(page) === id);

/** Their pages are in no folder: they are made when they are asked for. */
export function documents(): Plugin {
  return {
    name: "documents",
    enforce: "pre",
    resolveId: (id) => (pageBy(id) === undefined ? null : id),
    load: (id) => {
      const page = pageBy(id);
      return page === undefined ? null : contentOf(page);
    },
    configureServer({ middlewares, transformIndexHtml }) {
      middlewares.use(async (request, response, next) => {
        const page = DOCUMENT_PAGES.find((name) => request.url?.split(/[?#]/)[0] === `/${name}`);
        if (page === undefined) return next();
        response.setHeader("Content-Type", "text/html");
        response.end(await transformIndexHtml(`/${page}`, contentOf(page)));
      });
    },
  };
}
