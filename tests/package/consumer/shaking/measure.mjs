// Prints what a bundle of one name takes, for every name of every entry: the file with the name and those that it imports, minified.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { build, transform } from "esbuild";
import { rollup } from "rollup";

const main = (entry, name) => `export { ${name} } from "${entry}";`;

/** The bytes of a file and of those that it imports. */
function loaded(file, filesOf, bytesOf, seen = new Set()) {
  if (seen.has(file)) return 0;
  seen.add(file);
  return filesOf(file).reduce((sum, other) => sum + loaded(other, filesOf, bytesOf, seen), bytesOf(file));
}

async function byEsbuild(entry, name) {
  const options = { bundle: true, splitting: true, format: "esm", minify: true, metafile: true, write: false };
  const stdin = { contents: main(entry, name), resolveDir: "." };
  const { outputs } = (await build({ ...options, stdin, outdir: "out", logLevel: "error" })).metafile;
  const [first] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === "<stdin>");
  const isStatic = ({ kind, external }) => kind === "import-statement" && !external;
  const filesOf = (file) => outputs[file].imports.filter(isStatic).map(({ path }) => path);
  return loaded(first, filesOf, (file) => outputs[file].bytes);
}

let cache;
async function byRollup(entry, name) {
  const one = {
    resolveId: (id) => (id === "main" ? join(process.cwd(), "main.js") : null),
    load: (id) => (id.endsWith("/shaking/main.js") ? main(entry, name) : null),
    // What is loaded later does not count, and is most of the package.
    resolveDynamicImport: (specifier) => (typeof specifier === "string" ? { id: specifier, external: true } : null),
  };
  const made = await rollup({ input: "main", cache, plugins: [one, nodeResolve()] });
  cache = made.cache;
  const files = new Map((await made.generate({ format: "es" })).output.map((file) => [file.fileName, file]));
  const bytes = new Map();
  for (const [file, { code }] of files) {
    bytes.set(file, (await transform(code, { minify: true, format: "esm" })).code.length);
  }
  const [{ fileName }] = files.values();
  return loaded(fileName, (file) => files.get(file).imports.filter((other) => files.has(other)), bytes.get.bind(bytes));
}

const manifest = new URL(import.meta.resolve("heed/package.json"));
const { exports } = JSON.parse(await readFile(manifest, "utf8"));
const found = {};
for (const [path, target] of Object.entries(exports)) {
  if (typeof target === "string") continue;
  const entry = path.replace(".", "heed");
  found[entry] = {};
  for (const name of Object.keys(await import(join(dirname(manifest.pathname), target.default)))) {
    found[entry][name] = { esbuild: await byEsbuild(entry, name), rollup: await byRollup(entry, name) };
  }
}
console.log(JSON.stringify(found));
