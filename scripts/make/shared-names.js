// What the files of a bundle share with its first entry, out of sight: who imports that finds the public names alone.

/** A public function; what is shared is a property of it that neither listing nor printing shows. */
const CARRIER = "createHeed";
const KEY = "Symbol.for(`heed.shared`)";

/**
 * The bundler exports what is shared under names of a letter. In a file of its own it would be fetched after the entry, so it stays there,
 * as an object instead. That is made by a pure call: it goes where a bundler finds the carrier unused.
 * @type {import("vite").Plugin}
 */
export const sharedNames = {
  name: "heed-shared-names",
  generateBundle(_options, output) {
    const chunks = Object.values(output).filter((file) => file.type === "chunk");
    for (const entry of chunks) {
      const shown = new Set(this.getModuleInfo(entry.facadeModuleId ?? "")?.exports);
      if (!shown.has(CARRIER) || entry.exports.every((name) => shown.has(name))) continue;
      entry.code = carrying(entry.code, shown);
      for (const chunk of chunks) chunk.code = receiving(chunk.code, entry.fileName, shown);
    }
  },
};

/** @param {string} code @param {Set<string>} shown */
const carrying = (code, shown) =>
  code.replace(/export\{([^}]*)\};?\s*$/, (_, list) => {
    const { open, hidden } = sorted(list, shown);
    const [carrier] = open.find(([, name]) => name === CARRIER) ?? [];
    const shared = hidden.map(([local, name]) => `${name}:${local}`);
    const names = open.filter(([, name]) => name !== CARRIER).map(renamed);
    const made = `var ${CARRIER}=/* @__PURE__ */Object.defineProperty(${carrier},${KEY},{value:{${shared}}});`;
    return `${made}export{${[CARRIER, ...names]}};`;
  });

/** @param {string} code @param {string} entry @param {Set<string>} shown */
const receiving = (code, entry, shown) =>
  code.replace(/import\{([^}]*)\}from"\.\/([^"]+)";/g, (whole, list, from) => {
    const { open, hidden } = sorted(list, shown);
    if (from !== entry || hidden.length === 0) return whole;
    const shared = hidden.map(([name, local]) => `${name}:${local}`);
    return `import{${[CARRIER, ...open.map(renamed)]}}from"./${from}";var{${shared}}=${CARRIER}[${KEY}];`;
  });

/** The pairs of names in a list of exports or imports. @param {string} list @param {Set<string>} shown */
function sorted(list, shown) {
  const pairs = list.split(",").map((pair) => {
    const [name = "", as = name] = pair.split(" as ");
    return /** @type {const} */ ([name, as]);
  });
  const isShown = (/** @type {readonly [string, string]} */ pair) => pair.some((name) => shown.has(name));
  return { open: pairs.filter(isShown), hidden: pairs.filter((pair) => !isShown(pair)) };
}

/** @param {readonly [string, string]} pair */
const renamed = ([name, as]) => (name === as ? name : `${name} as ${as}`);
