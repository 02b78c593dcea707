// Leaves comments and empty lines of WGSL files out of bundles.

import { readFileSync } from "node:fs";

/** @type {import("vite").Plugin} */
export const bareShaders = {
  name: "heed-bare-shaders",
  enforce: "pre",
  load(id) {
    if (!id.endsWith(".wgsl?raw")) return undefined;
    const text = readFileSync(id.replace(/\?raw$/, ""), "utf8");
    // The mark of a loop is a comment that compose() reads.
    const bare = text.replace(/ *\/\/(?! unroll$).*/gm, "").replace(/\n+/g, "\n");
    return `export default ${JSON.stringify(bare)};`;
  },
};
