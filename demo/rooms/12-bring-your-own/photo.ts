// A picture as tokens: patches of it, and heads whose vectors are made to look for what is alike in colour, in structure or in place.

import { houseAt } from "../../src/model/made-pictures.js";
import { madeSource, type Source } from "./source.js";

/** Patches, both ways; pixels of a patch, both ways. */
export const PATCHES = 32;
const PATCH = 8;
/** Pixels of the picture, both ways. */
export const SIDE = PATCHES * PATCH;
const COUNT = PATCHES * PATCHES;

type Patch = ReturnType<typeof patchOf>;

/** As a query, so that products with a key are, but for what belongs to the query alone, minus the squared distance times `sharpness`. */
function near(sharpness: number, vector: readonly number[]): readonly number[] {
  return [...vector.map((part) => 2 * sharpness * part), -sharpness];
}
function nearKey(vector: readonly number[]): readonly number[] {
  return [...vector, vector.reduce((sum, part) => sum + part * part, 0)];
}

const [COLOUR, PLACE, STRUCTURE] = [60, 0.04, 14];

type Make = (patch: Patch) => readonly number[];

const HEADS: readonly { readonly name: string; readonly q: Make; readonly k: Make }[] = [
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

/** One layer, a token a patch. */
export function photoSource(picture: ImageData): Source {
  const patches = Array.from({ length: COUNT }, (_, index) => patchOf(picture, index));
  const of = (make: Make) => (at: number) => patches.slice(at, at + 1).flatMap(make);
  const heads = HEADS.map(({ name, q, k }) => ({ name, strength: 1, q: of(q), k: of(k) }));
  return madeSource("a picture", [heads], COUNT);
}

/** Its mean colour, 0 to 1; the lightness of each pixel less its mean, all of it of length 1, or zeros for an even patch; and its place. */
function patchOf({ data }: ImageData, index: number) {
  const [row, col] = [Math.floor(index / PATCHES), index % PATCHES];
  const pixels = Array.from({ length: PATCH ** 2 }, (_, pixel) => {
    const [y, x] = [row * PATCH + Math.floor(pixel / PATCH), col * PATCH + (pixel % PATCH)];
    return Array.from(data.subarray((y * SIDE + x) * 4, (y * SIDE + x) * 4 + 3), (part) => part / 255);
  });
  const meanOf = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
  const colour = [0, 1, 2].map((channel) => meanOf(pixels.map((pixel) => pixel[channel] ?? 0)));
  // The luma of ITU-R BT.601.
  const lightness = pixels.map(([red = 0, green = 0, blue = 0]) => 0.299 * red + 0.587 * green + 0.114 * blue);
  const mean = meanOf(lightness);
  const length = Math.hypot(...lightness.map((light) => light - mean));
  return {
    colour,
    structure: lightness.map((light) => (length < 0.05 ? 0 : (light - mean) / length)),
    place: [row, col],
  };
}

export function madePicture(): ImageData {
  const pixels = Array.from({ length: SIDE ** 2 }, (_, pixel) => {
    const colour = houseAt((pixel % SIDE) / PATCH, Math.floor(pixel / SIDE) / PATCH);
    return [...colour.map((part) => part * 255), 255];
  });
  return new ImageData(Uint8ClampedArray.from(pixels.flat()), SIDE);
}
