// Hides the names that a bundle's chunks share with an entry: importers of the entry see its public names alone.

/** A public function of each entry that holds what others need. The shared values are a property of it that is not enumerable. */
const CARRIERS = ["createHeed", "saveSafetensors"];
const PROPERTY = "shared";

/**
 * The bundler exports shared values under names of a letter. In a file of their own they would be fetched after the entry, so the entry
 * keeps them, in a list. A pure call makes the list, so a bundler removes it where the carrier is unused.
 * @type {import("vite").Plugin}
 */
export const sharedNames = {
  name: "heed-shared-names",
  generateBundle(_options, output) {
    const chunks = Object.values(output).filter((file) => file.type === "chunk");
    for (const entry of chunks) {
      const shown = new Set(this.getModuleInfo(entry.facadeModuleId ?? "")?.exports);
      const hidden = entry.exports.filter((name) => !shown.has(name));
      const carrier = CARRIERS.find((name) => shown.has(name));
      if (carrier === undefined || hidden.length === 0) continue;
      entry.code = carrying(entry.code, carrier, hidden);
      for (const chunk of chunks) chunk.code = receiving(chunk.code, entry.fileName, carrier, hidden);
    }
  },
};

/** @param {string} code @param {string} carrier @param {readonly string[]} hidden */
const carrying = (code, carrier, hidden) =>
  code.replace(/export\{([^}]*)\};?\s*$/, (_, list) => {
    const locals = new Map(pairs(list).map(([local, name]) => [name, local]));
    const shared = hidden.map((name) => locals.get(name));
    // The minifier leaves some names as they are.
    const own = locals.get(carrier) === carrier ? `${carrier}_` : carrier;
    const made = `Object.defineProperty(${locals.get(carrier)},\`${PROPERTY}\`,{value:[${shared}]})`;
    const shown = [...locals].filter(([name]) => name !== carrier && !hidden.includes(name));
    const names = shown.map(([name, local]) => renamed(local, name));
    return `var ${own}=/* @__PURE__ */${made};export{${[renamed(own, carrier), ...names]}};`;
  });

/** @param {string} code @param {string} entry @param {string} carrier @param {readonly string[]} hidden */
const receiving = (code, entry, carrier, hidden) =>
  code.replace(/import\{([^}]*)\}from"\.\/([^"]+)";/g, (whole, list, from) => {
    const shared = pairs(list).filter(([name]) => hidden.includes(name));
    if (from !== entry || shared.length === 0) return whole;
    const shown = pairs(list).filter(([name]) => !hidden.includes(name));
    const names = [carrier, ...shown.map(([name, local]) => renamed(name, local))];
    const indexed = shared.map(([name, local]) => `${hidden.indexOf(name)}:${local}`);
    return `import{${names}}from"./${from}";var{${indexed}}=${carrier}.${PROPERTY};`;
  });

/** A list of exports or imports, each by its two names. @param {string} list @returns {(readonly [string, string])[]} */
const pairs = (list) =>
  list.split(",").map((pair) => {
    const [name = "", as = name] = pair.split(" as ");
    return [name, as];
  });

/** @param {string} name @param {string} as */
const renamed = (name, as) => (name === as ? name : `${name} as ${as}`);
