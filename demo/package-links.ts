// The links for those who would use heed, in the foot of every page: docs, API and examples of this site, and what package.json names.

import { readFileSync } from "node:fs";

/** As far as it is used; what is not known yet has no link. */
export interface Named {
  readonly homepage?: string;
  readonly repository?: string | { readonly url: string };
  readonly bugs?: string | { readonly url: string };
}

export const PACKAGE: Named = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

const urlOf = (place: Named["repository"]): string | undefined =>
  (typeof place === "string" ? place : place?.url)?.replace(/^git\+/, "").replace(/\.git$/, "");

export function links({ repository, bugs }: Named): string {
  const known = { Source: urlOf(repository), "Report a fault": urlOf(bugs) };
  const others = Object.entries(known).flatMap(([name, url]) =>
    url?.startsWith("https://") ? [`<a href="${url}">${name}</a>`] : [],
  );
  return [
    `<a href="./docs.html">Docs</a>`,
    `<a href="./api.html">API</a>`,
    `<a href="./examples.html">Examples</a>`,
    ...others,
    "<code>npm install heed</code>",
  ].join(" · ");
}
