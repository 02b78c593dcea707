// Hurries the garbage collection of large buffers, which an idle page puts off for seconds or for ever.

/** Below this an allocation does not make V8 begin to collect. */
const LEAST = 64 * 2 ** 20;
const MOST = 4 * LEAST;

/**
 * Milliseconds after which it tries again and again: a collection that is under way keeps what was in use as it began, and workers need time
 * to end.
 */
const AFTER = [100, 150, 200, 300, 450, 700, 1000, 1500];

let dropped = 0;
/** How often it has tried; all times where nothing is to do. */
let tried = AFTER.length;

/** The last reference to so many bytes is about to go. */
export function collectSoon(bytes: number): void {
  dropped += bytes;
  if (dropped < LEAST) return;
  const isTrying = tried < AFTER.length;
  tried = 0;
  if (!isTrying) setTimeout(collect, AFTER[0]);
}

function collect(): void {
  try {
    // V8 counts what is allocated outside of its heap, and collects when that has grown. No page of this is ever touched.
    void new ArrayBuffer(Math.min(dropped, MOST));
  } catch {
    // An allocation that fails has collected as well.
  }
  tried += 1;
  if (tried < AFTER.length) setTimeout(collect, AFTER[tried]);
  else dropped = 0;
}
