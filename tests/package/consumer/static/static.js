// A page without a bundler: imports the module that its address names, from wherever that is.
import { compute, leave } from "./compute.js";
import { overrides } from "./overrides.js";

const query = new URLSearchParams(location.search);
const module = query.get("module") ?? "/heed/index.js";

async function outcome() {
  const heed = await import(module);
  const reference = await import(new URL("reference.js", new URL(module, location.href)).href);
  return compute(heed, reference, await overrides[query.get("override") ?? "none"]());
}

leave(outcome());
