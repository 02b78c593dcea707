// Reads the settings from the command line.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isHeed, isPeak } from "../lib/participants.js";
import { shapeOf } from "../lib/shapes.js";

/** @typedef {import("../lib/participants.js").Participant} Participant */
/**
 * The studies and shapes of a bench.
 * @typedef {object} Offer
 * @property {string} name
 * @property {readonly string[]} studies
 * @property {readonly string[]} ofShapes the studies to which shapes belong
 * @property {readonly string[]} shapes all of them
 * @property {readonly string[]} quickShapes
 * @property {readonly string[]} smokeShapes
 */

/**
 * @typedef {object} Settings
 * @property {readonly string[]} studies
 * @property {readonly string[]} shapes
 * @property {(one: Participant) => boolean} takesPart
 * @property {import("../lib/rounds.js").Pace} pace
 * @property {boolean} isQuick
 * @property {boolean} isSmoke
 * @property {boolean} isolated
 * @property {string} out
 */

/** Where the figures of a bench go unless it is told. @param {string} name */
export const outOf = (name) => join(fileURLToPath(new URL("../../../build/bench", import.meta.url)), `${name}.json`);

/** @param {Offer} offer */
export const usage = ({ name, studies }) => `npm run bench -- ${name} [options]
  --quick           a few shapes, few rounds: a minute or two
  --smoke           one shape, one round, and fails unless every participant is there and right: shows that the bench works
  --only A,B        shapes (8x1024x64, 1x8192x64c, ...) or studies (${studies.join(", ")})
  --peers A,B       prefixes of the names of peers to measure beside heed: ort, ort-unfused, litert, jax, tfjs, plain
  --rounds N        samples of each at a shape
  --patience S      leaves out calls that would take longer than S seconds
  --best            the best sample instead of the median, for a machine with other load
  --plain           without cross-origin isolation: no shared memory, no threads for most
  --out FILE        where the JSON goes`;

/** @param {readonly string[]} args @param {Offer} offer @returns {Settings} */
export function readSettings(args, offer) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      smoke: { type: "boolean", default: false },
      only: { type: "string" },
      peers: { type: "string" },
      rounds: { type: "string" },
      patience: { type: "string" },
      plain: { type: "boolean", default: false },
      best: { type: "boolean", default: false },
      out: { type: "string", default: outOf(offer.name) },
    },
  });
  const { smoke } = values;
  const quick = values.quick || smoke;
  const only = values.only?.split(",") ?? [];
  const shapes = only.filter((name) => !offer.studies.includes(name));
  for (const shape of shapes) if (!offer.shapes.includes(shape)) shapeOf(shape);
  const named = offer.studies.filter((name) => only.includes(name));
  const asked = named.length === 0 && shapes.length > 0 ? offer.ofShapes : named;
  const peers = values.peers?.split(",");
  return {
    studies: asked.length > 0 ? asked : smoke ? offer.ofShapes : offer.studies,
    shapes: shapes.length > 0 ? shapes : smoke ? offer.smokeShapes : quick ? offer.quickShapes : offer.shapes,
    takesPart: (one) =>
      peers === undefined || isHeed(one) || isPeak(one) || peers.some((peer) => one.name.startsWith(peer)),
    pace: {
      summary: values.best ? "best" : "median",
      rounds: Number(values.rounds ?? (smoke ? 1 : quick ? 5 : 9)),
      budgetMs: quick ? 300 : 800,
      patienceMs: 1000 * Number(values.patience ?? (quick ? 0.7 : 2)),
    },
    isQuick: quick,
    isSmoke: smoke,
    isolated: !values.plain,
    out: values.out,
  };
}
