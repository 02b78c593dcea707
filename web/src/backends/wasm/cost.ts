// Which calls are small: the calling thread computes them in less time than a worker's round trip takes.

/** A worker's round trip takes 20 to 80 microseconds, as long as a million multiplications. */
const SMALL_MULTIPLICATIONS = 2 ** 20;

/** Copying this many bytes takes no longer either. */
export const SMALL_BYTES = 2 ** 18;

export function isSmall(multiplications: number, bytes: number): boolean {
  return multiplications <= SMALL_MULTIPLICATIONS && bytes <= SMALL_BYTES;
}
