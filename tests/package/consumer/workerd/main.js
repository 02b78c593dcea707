// A Worker that computes what its address asks for, in its request; and, before any request, once.
import * as heed from "heed";
import * as reference from "heed/reference";
import { compute } from "./compute.js";
import { parts } from "./parts.js";

const before = await compute(heed, reference);

const blobs = (files) => Object.fromEntries([...files].map(([name, bytes]) => [name, new Blob([bytes])]));
const variant = async (name) => compute(heed, reference, { variant: name });
const threads = async () => {
  const { default: module } = await import("heed/assets/wasm-simd-threads.wasm");
  return compute(heed, reference, { variant: "simd", wasm: { module } });
};
const answers = {
  "/before": () => before,
  "/simd": () => variant("simd"),
  "/relaxed": () => variant("relaxed"),
  "/parts": () => parts(blobs),
  "/threads": threads,
};

export default {
  async fetch(request) {
    try {
      return Response.json(await answers[new URL(request.url).pathname]());
    } catch (error) {
      return Response.json({ failure: `${error.code}: ${error.message}` });
    }
  },
};
