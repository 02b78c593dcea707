// A picture as tokens: patches of it, and heads whose vectors are made to look for what is alike in colour, in structure or in place.

import { houseAt } from "../../src/model/made-pictures.js";
import type { Source, Vectors } from "./source.js";

/** Patches, both ways; pixels of a patch, both ways. */
export const PATCHES = 32;
const PATCH = 8;
/** Pixels of the picture, both ways. */
export const SIDE = PATCHES * PATCH;
const COUNT = PATCHES * PATCHES;

interface Patch {
  /** The mean red, green and blue, 0 to 1. */
  readonly colour: readonly number[];
  /** Lightness of each pixel less its mean, all of it of length 1; zeros for an even patch. */
  readonly structure: readonly number[];
  readonly place: readonly number[];
}

/** What queries and keys of a head are made of. Scores are their products. */
interface Recipe {
  readonly name: string;
  readonly q: (patch: Patch) => readonly number[];
  readonly k: (patch: Patch) => readonly number[];
}

/** As a query, so that products with a key are, but for what belongs to the query alone, minus the squared distance times `sharpness`. */
const near = (sharpness: number, vector: readonly number[]): readonly number[] => [
  ...vector.map((part) => 2 * sharpness * part),
  -sharpness,
];
const nearKey = (vector: readonly number[]): readonly number[] => [
  ...vector,
  vector.reduce((sum, part) => sum + part * part, 0),
];

const [COLOUR, PLACE, STRUCTURE] = [60, 0.04, 14];

const RECIPES: readonly Recipe[] = [
  { name: "patches of the same colour", q: ({ colour }) => near(COLOUR, colour), k: ({ colour }) => nearKey(colour) },
  {
    name: "patches of the same structure",
    q: ({ structure }) => structure.map((part) => STRUCTURE * part),
    k: ({ structure }) => structure,
  },
  { name: "patches nearby", q: ({ place }) => near(PLACE, place), k: ({ place }) => nearKey(place) },
  {
    name: "patches of the same colour nearby",
    q: ({ colour, place }) => [...near(COLOUR, colour), ...near(PLACE / 4, place)],
    k: ({ colour, place }) => [...nearKey(colour), ...nearKey(place)],
  },
];

/** One layer, a head a recipe, a token a patch. */
export function photoSource(name: string, picture: ImageData): Source {
  const patches = Array.from({ length: COUNT }, (_, index) => patchOf(picture, index));
  const heads = RECIPES.map(({ q, k }) => vectorsOf(patches.map(q), patches.map(k)));
  return {
    name,
    layers: 1,
    heads: RECIPES.length,
    queries: COUNT,
    keys: COUNT,
    headName: (_, head) => RECIPES[head]?.name ?? "",
    vectors: (_, head) => heads[head],
    weights: () => undefined,
    origin: "made by the recipe of this head",
  };
}

function vectorsOf(queries: readonly (readonly number[])[], keys: readonly (readonly number[])[]): Vectors {
  const width = queries[0]?.length ?? 0;
  // Scores will be divided by the root of the width.
  const root = Math.sqrt(width);
  return {
    width,
    q: Float32Array.from(queries.flatMap((query) => query.map((part) => part * root))),
    k: Float32Array.from(keys.flat()),
  };
}

function patchOf({ data }: ImageData, index: number): Patch {
  const [row, col] = [Math.floor(index / PATCHES), index % PATCHES];
  const colour = [0, 0, 0];
  const lightness: number[] = [];
  for (let y = row * PATCH; y < (row + 1) * PATCH; y++) {
    for (let x = col * PATCH; x < (col + 1) * PATCH; x++) {
      const [red = 0, green = 0, blue = 0] = data.subarray((y * SIDE + x) * 4, (y * SIDE + x) * 4 + 3);
      [red, green, blue].forEach((part, channel) => {
        colour[channel] = (colour[channel] ?? 0) + part / 255 / PATCH ** 2;
      });
      // The luma of ITU-R BT.601.
      lightness.push((0.299 * red + 0.587 * green + 0.114 * blue) / 255);
    }
  }
  const mean = lightness.reduce((sum, light) => sum + light, 0) / lightness.length;
  const length = Math.sqrt(lightness.reduce((sum, light) => sum + (light - mean) ** 2, 0));
  const structure = lightness.map((light) => (length < 0.05 ? 0 : (light - mean) / length));
  return { colour, structure, place: [row, col] };
}

export function madePicture(): ImageData {
  const picture = new ImageData(SIDE, SIDE);
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const colour = houseAt(x / PATCH, y / PATCH).map((part) => part * 255);
      picture.data.set([...colour, 255], (y * SIDE + x) * 4);
    }
  }
  return picture;
}
