// A picture as tokens: patches of it, and heads whose vectors are made to look for what is alike in colour, in structure or in place.

import { houseAt } from "../../src/model/made-pictures.js";
import { madeSource, type Recipe, type Source } from "./source.js";

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

/** One layer, a head a recipe, a token a patch. */
export function photoSource(picture: ImageData): Source {
  const patches = Array.from({ length: COUNT }, (_, index) => patchOf(picture, index));
  type Made = (patch: Patch) => readonly number[];
  const head = (name: string, q: Made, k: Made, strength = 1): Recipe => {
    const of = (make: Made) => (at: number) => patches.slice(at, at + 1).flatMap(make);
    return { name, strength, q: of(q), k: of(k) };
  };
  const heads = [
    head(
      "patches of the same colour",
      ({ colour }) => near(COLOUR, colour),
      ({ colour }) => nearKey(colour),
    ),
    head(
      "patches of the same structure",
      ({ structure }) => structure,
      ({ structure }) => structure,
      STRUCTURE,
    ),
    head(
      "patches nearby",
      ({ place }) => near(PLACE, place),
      ({ place }) => nearKey(place),
    ),
    head(
      "patches of the same colour nearby",
      ({ colour, place }) => [...near(COLOUR, colour), ...near(PLACE / 4, place)],
      ({ colour, place }) => [...nearKey(colour), ...nearKey(place)],
    ),
  ];
  return madeSource("a picture", [heads], COUNT);
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
