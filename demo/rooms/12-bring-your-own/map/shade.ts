// How weights are shaded: by their logarithm, from a tenth of an even share to the whole, since an even share of thousands is next to nothing.

import { colourOf } from "../../../src/ui/colour.js";

const LEVELS = 64;

/** 0 to 1. `even`: a row's share where all keys get the same. */
export function levelOf(weight: number, even: number): number {
  const least = even / 10;
  if (!(weight > least)) return 0;
  return Math.min(1, Math.log(weight / least) / Math.log(1 / least));
}

/** Each level as a pixel of ImageData, from the ground to the full colour. */
export class Shades {
  readonly #pixels: Uint8ClampedArray;

  constructor(ground: readonly number[], full: readonly number[]) {
    this.#pixels = new Uint8ClampedArray((LEVELS + 1) * 4);
    for (let level = 0; level <= LEVELS; level++) {
      const mixed = ground.map((part, index) => part + ((full[index] ?? 0) - part) * (level / LEVELS));
      this.#pixels.set(mixed, level * 4);
    }
  }

  put(into: Uint8ClampedArray, pixel: number, level: number): void {
    const from = Math.round(level * LEVELS) * 4;
    for (let part = 0; part < 4; part++) into[pixel * 4 + part] = this.#pixels[from + part] ?? 0;
  }
}

/** The page's colours of shares, as they are now. */
export function shadesOf(element: Element): Shades {
  const probe = document.createElement("span");
  element.append(probe);
  const of = (name: string) => {
    probe.style.setProperty("color", `var(${name})`);
    return colourOf(getComputedStyle(probe).color);
  };
  const shades = new Shades(of("--cell"), of("--share"));
  probe.remove();
  return shades;
}
