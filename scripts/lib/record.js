// What is recorded of a version: the brotli bytes of what pages load, and a few speeds.

/** @typedef {{ version: string, date: string, bytes: Record<string, number>, ms: Record<string, number>, machine: string }} Version */

/** Of the build's sizes, by the names of entries. @param {any} sizes of sizes.json */
export function sizesOf({ index, runners, text, layers, models, train, expr, viz, webgpu, reference, ...modules }) {
  const largest = (/** @type {Record<string, { chunk: number }>} */ all) =>
    Math.max(...Object.values(all).map(({ chunk }) => chunk));
  const { variants, full, training, narrow } = modules;
  return {
    heed: index + Math.max(runners.shared, runners.unshared),
    "heed/text": text,
    "heed/layers": layers,
    "heed/models": models,
    "heed/train": train,
    "heed/expr": expr,
    "heed/viz": viz,
    "heed/webgpu": webgpu,
    "heed/reference": reference,
    "module core": largest(variants),
    "module full": largest(full),
    "module training": largest(training),
    "module narrow": largest(narrow),
  };
}

/** docs/record.md. @param {readonly Version[]} versions the newest first */
export function recordPage(versions) {
  const [newest] = versions;
  const line = (/** @type {readonly (string | number)[]} */ cells) => `| ${cells.join(" | ")} |`;
  const heads = ["", ...versions.map(({ version }) => version)];
  /** @param {string} title @param {(one: Version) => string | number | undefined} of */
  const row = (title, of) => line([title, ...versions.map((one) => of(one) ?? "")]);
  const kB = (/** @type {number | undefined} */ bytes) => (bytes === undefined ? undefined : (bytes / 1000).toFixed(1));
  return `<!-- Made by \`npm run record\`. -->
# Size and speed by version

Kilobytes are those of brotli: an entry with what it loads at once, beside \`heed\` (\`heed/models\` and \`heed/train\` beside \`heed/layers\`), and of the WebAssembly modules the largest of four variants, as JavaScript with the binary inside. A first call
loads \`heed\` and the core module. Speeds are medians in Node, on one thread: attention of 8 heads of width 64, 1024 queries and keys, with arrays that are given at each call, then one query over 4096 keys, then a step of training a GPT-2 (96 wide, 3 layers, 16 rows of
64 tokens). They depend on the machine: compare those of one.

${[
  line(heads),
  line(["---", ...versions.map(() => "---:")]),
  row("date", ({ date }) => date),
  ...Object.keys(newest?.bytes ?? {}).map((name) => row(`${name}, kB`, ({ bytes }) => kB(bytes[name]))),
  ...Object.keys(newest?.ms ?? {}).map((name) => row(`${name}, ms`, ({ ms }) => ms[name])),
  row("machine", ({ machine }) => machine),
].join("\n")}
`;
}
