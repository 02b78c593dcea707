// Chunks that are loaded at the first use of something. Each is a function of the values that it shares with the entry: would it import
// them, a bundler that writes several files had to keep these values, beside everything that is, for pages that never load the chunk.

import { dirname, join, relative, resolve } from "node:path";
import { pairs } from "./name-lists.js";
import { root } from "./root.js";

/** The module that gives an imported chunk its shared values. It belongs to the entry. */
export const OPENER = "heed:open";

/** What the paths of the chunks' entries, which are no files, begin with. */
const ENTRY = "heed:chunk/";

export class LazyChunks {
  /** The files of each chunk, from the root. @type {Readonly<Record<string, readonly string[]>>} */
  #files;
  /** The chunk of each file. @type {ReadonlyMap<string, string>} */
  #names;
  /** The entry's modules. @type {ReadonlySet<string>} */
  #beside;
  /** The shared values: each the file of a module, and a name that it exports. @type {(readonly [file: string, name: string])[]} */
  #shared = [];

  /** @param {Readonly<Record<string, readonly string[]>>} files @param {ReadonlySet<string>} beside */
  constructor(files, beside) {
    const chunks = Object.entries(files);
    this.#files = files;
    this.#names = new Map(chunks.flatMap(([chunk, own]) => own.map((file) => [join(root, file), chunk])));
    this.#beside = beside;
  }

  /** A module for each chunk, which exports what its files do. */
  get entries() {
    return Object.fromEntries(Object.keys(this.#files).map((chunk) => [chunk, `${ENTRY}${chunk}`]));
  }

  /**
   * For the bundle of the chunks, which comes first.
   * @returns {import("vite").Plugin}
   */
  get own() {
    return {
      name: "heed-lazy-chunks",
      enforce: "pre",
      resolveId: (source, importer) => {
        if (source === OPENER) return { id: source, external: true };
        if (source.startsWith(join(root, ENTRY))) return source;
        const file = fileOf(source, importer);
        // The entry for hosted files has one of them itself.
        return this.#beside.has(file) && !this.#names.has(file)
          ? { id: `${OPENER}:${file}`, external: true }
          : undefined;
      },
      load: (id) =>
        this.#files[relative(join(root, ENTRY), id)]?.map((file) => `export * from "${join(root, file)}";`).join("\n"),
      generateBundle: {
        order: "post",
        handler: (_options, output) => {
          for (const file of Object.values(output)) {
            if (file.type === "chunk") file.code = this.#asFunction(file.code);
          }
        },
      },
    };
  }

  /**
   * For every bundle that imports one of them, from where it is.
   * @returns {import("vite").Plugin}
   */
  users(folder = "./") {
    return {
      name: "heed-uses-lazy-chunks",
      enforce: "pre",
      resolveId: (source) => {
        if (source === OPENER) return source;
        return source.startsWith(`${OPENER}:`) ? { id: source.replace(/.*:/, folder), external: true } : undefined;
      },
      load: (id) => (id === OPENER ? this.#openerCode() : undefined),
      transform: (code, id) => {
        const changed = code.replaceAll(/(?<!typeof )\bimport\("(\.[^"]+)"\)/g, (whole, source) => {
          const chunk = this.#names.get(fileOf(source, id));
          return chunk === undefined ? whole : `import("${OPENER}:${chunk}.js").then(openLazy)`;
        });
        return changed === code ? undefined : `import { open as openLazy } from "${OPENER}";\n${changed}`;
      },
    };
  }

  /** A chunk has its values once, whoever imports it. */
  #openerCode() {
    const imports = this.#shared.map(([file, name], index) => `import { ${name} as v${index} } from "${file}";`);
    return `${imports.join("\n")}
      const opened = new WeakMap();
      export function open({ default: make }) {
        return opened.get(make) ?? opened.set(make, make([${this.#shared.map((_, index) => `v${index}`)}], open)).get(make);
      }`;
  }

  /** @param {string} code */
  #asFunction(code) {
    /** @type {string[]} */
    const imports = [];
    /** @type {string[]} */
    const values = [];
    /** @type {string[]} */
    const shared = [];
    const body = code
      // What the entry has is there already, also where the chunk uses no name of it.
      .replaceAll(new RegExp(`import"${OPENER}:[^"]*";?\\n?`, "g"), "")
      .replaceAll(/import\{([^}]*)\}from"([^"]+)";?\n?/g, (_, list, from) => {
        const names = pairs(list);
        if (from === OPENER) values.push(...names.map(([, local]) => `${local}=open`));
        else if (from.startsWith(OPENER)) {
          const file = from.slice(OPENER.length + 1);
          shared.push(...names.map(([name, local]) => `${this.#indexOf(file, name)}:${local}`));
        } else {
          const chunk = `chunk${imports.length}`;
          imports.push(`import ${chunk} from"${from}";`);
          values.push(`{${names.map(([name, local]) => `${name}:${local}`)}}=open({default:${chunk}})`);
        }
        return "";
      })
      .replace(
        /export\{([^}]*)\};?\s*$/,
        (_, list) => `return{${pairs(list).map(([local, name]) => `${name}:${local}`)}}`,
      );
    return `${imports.join("")}export default(shared,open)=>{var ${[`{${shared}}=shared`, ...values]};\n${body}};\n`;
  }

  /** @param {string} file @param {string} name */
  #indexOf(file, name) {
    const index = this.#shared.findIndex((one) => one[0] === file && one[1] === name);
    return index === -1 ? this.#shared.push([file, name]) - 1 : index;
  }
}

/** @param {string} source @param {string | undefined} importer */
export const fileOf = (source, importer = "") => resolve(dirname(importer), source.replace(/\.js$/, ".ts"));
