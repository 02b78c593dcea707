// Gives importers of the package the public names of its entries alone.

import { pairs, renamed } from "./name-lists.js";

/**
 * An entry also exports what other files share with it: in a file of its own that would be fetched after the entry. A module in dist/exports
 * passes on the public names. Shared values have the names that they have in the entry, which is shorter.
 * @type {import("vite").Plugin}
 */
export const publicNames = {
  name: "heed-public-names",
  generateBundle(_options, output) {
    const chunks = Object.values(output).filter((file) => file.type === "chunk");
    for (const entry of chunks) {
      const shown = this.getModuleInfo(entry.facadeModuleId ?? "")?.exports.sort() ?? [];
      if (shown.length === 0 || shown.length === entry.exports.length) continue;
      const source = `export{${shown}}from"../${entry.fileName}";\n`;
      this.emitFile({ type: "asset", fileName: `exports/${entry.fileName}`, source });
      /** @type {Map<string, string>} */
      const locals = new Map();
      entry.code = entry.code.replace(/export\{([^}]*)\}/, (_, list) => {
        const names = pairs(list).filter(([, name]) => shown.includes(name));
        for (const [local, name] of pairs(list)) if (!shown.includes(name)) locals.set(name, local);
        return `export{${[...names.map(([local, name]) => renamed(local, name)), ...locals.values()]}}`;
      });
      for (const chunk of chunks) {
        chunk.code = chunk.code.replace(/import\{([^}]*)\}from"\.\/([^"]+)"/g, (whole, list, from) => {
          const names = pairs(list).map(([name, local]) => renamed(locals.get(name) ?? name, local));
          return from === entry.fileName ? `import{${names}}from"./${from}"` : whole;
        });
      }
    }
  },
};
