// A service worker that computes when a page asks for it, or the browser's own tools.
import * as heed from "heed";
import * as reference from "heed/reference";
import { compute } from "./compute.js";

const outcome = () => compute(heed, reference).catch((error) => ({ failure: `${error.code}: ${error.message}` }));
addEventListener("message", ({ ports }) => outcome().then((found) => ports[0].postMessage(found)));
Object.assign(globalThis, { outcome });
