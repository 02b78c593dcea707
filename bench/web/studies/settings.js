// What a run was asked for on the command line.

import { parseArgs } from "node:util";
import { ALL, QUICK, shapeOf } from "../lib/shapes.js";

/** @typedef {import("../lib/participants.js").Participant} Participant */
/** @typedef {"machine" | "shapes" | "costs" | "first-call" | "first-result" | "stalls" | "memory"} Study */

/**
 * @typedef {object} Settings
 * @property {readonly Study[]} studies
 * @property {readonly string[]} shapes
 * @property {(one: Participant) => boolean} takesPart
 * @property {import("../lib/rounds.js").Pace} pace
 * @property {boolean} isQuick
 * @property {boolean} isolated
 * @property {string} out
 */

/** @type {readonly Study[]} */
const STUDIES = ["machine", "shapes", "costs", "first-call", "first-result", "stalls", "memory"];

export const USAGE = `npm run bench -- web [options]
  --quick           a few shapes, few rounds: a minute or two
  --only A,B        shapes (8x1024x64, 1x8192x64c, ...) or studies (${STUDIES.join(", ")})
  --peers A,B       beginnings of names of those who take part besides heed: ort, ort-unfused, jax, tfjs, plain
  --rounds N        samples of each at a shape
  --patience S      leaves out calls that would take longer than S seconds
  --best            the best sample instead of the median: where other work keeps interrupting
  --plain           without cross-origin isolation: no shared memory, no threads for most
  --out FILE        where the JSON goes`;

/** @param {readonly string[]} args @param {string} out @returns {Settings} */
export function readSettings(args, out) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      peers: { type: "string" },
      rounds: { type: "string" },
      patience: { type: "string" },
      plain: { type: "boolean", default: false },
      best: { type: "boolean", default: false },
      out: { type: "string", default: out },
    },
  });
  const { quick } = values;
  const only = values.only?.split(",") ?? [];
  const shapes = only.filter((name) => !isStudy(name));
  for (const shape of shapes) shapeOf(shape);
  const asked = STUDIES.filter((name) => only.includes(name) || (name === "shapes" && shapes.length > 0));
  const peers = values.peers?.split(",");
  return {
    studies: asked.length === 0 ? STUDIES : asked,
    shapes: shapes.length > 0 ? shapes : quick ? QUICK : ALL,
    takesPart: ({ name, page }) =>
      peers === undefined || page === "heed" || page === "ceiling" || peers.some((peer) => name.startsWith(peer)),
    pace: {
      summary: values.best ? "best" : "median",
      rounds: Number(values.rounds ?? (quick ? 5 : 9)),
      budgetMs: quick ? 300 : 800,
      patienceMs: 1000 * Number(values.patience ?? (quick ? 0.7 : 2)),
    },
    isQuick: quick,
    isolated: !values.plain,
    out: values.out,
  };
}

/** @param {string} name @returns {name is Study} */
const isStudy = (name) => STUDIES.some((study) => study === name);
