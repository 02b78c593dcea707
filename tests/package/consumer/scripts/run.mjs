// What a stranger's first script does, in any runtime: computes, prints, and ends by itself.
import * as heed from "heed";
import * as assets from "heed/assets";
import * as reference from "heed/reference";
import { compute } from "./compute.js";

const outcomes = { heed: await compute(heed, reference), assets: await compute(assets, reference) };
// Neither disposed nor exited: an idle engine must not keep the process.
await heed.createHeed();
console.log(JSON.stringify(outcomes));
