// The errors of heed and its peers, of the last runs of `npm run bench -- web` and `-- train`: their pages have checked every output.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { small, tableOf } from "../table.js";

/** @typedef {{ readonly shape: string, readonly results: readonly { readonly name: string, readonly error: number | null }[] }} Study */

/** @param {string} bench @param {"shapes" | "backward"} study @returns {readonly Study[]} none where there was no such run */
function studiesOf(bench, study) {
  const file = fileURLToPath(new URL(`../../build/bench/${bench}.json`, import.meta.url));
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8"))[study] : [];
}

/** A row for each participant on one thread, and a column for each shape. @param {readonly Study[]} studies */
function errorTable(studies) {
  const names = new Set(studies.flatMap(({ results }) => results.map(({ name }) => name)));
  // Without those that are given other inputs, options or threads.
  const rows = [...names].flatMap((name) => {
    const [, library] = /^([\w-]+)(?::backward)?@1$/.exec(name) ?? [];
    const errors = studies.map(({ results }) => results.find((one) => one.name === name)?.error ?? null);
    return library === undefined ? [] : [{ name: library, errors }];
  });
  return tableOf(
    rows.filter(({ errors }) => errors.some((error) => error !== null)),
    [
      ["library", (one) => one.name],
      ...studies.map(
        ({ shape }, at) =>
          /** @type {const} */ ([shape, (/** @type {typeof rows[number]} */ one) => small(one.errors[at])]),
      ),
    ],
  );
}

/** Tables by name, of the runs that there were. @returns {Record<string, () => string>} */
export function peerTables() {
  const found = { peers: studiesOf("web", "shapes"), "peers-backward": studiesOf("train", "backward") };
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, studies]) =>
      studies.length === 0 ? [] : [[name, () => errorTable(studies)]],
    ),
  );
}
