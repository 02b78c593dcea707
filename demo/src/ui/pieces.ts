// Work with pauses in which the browser draws and takes input, so that a page stays responsive while it starts on a slow phone.

export const pause = (): Promise<void> => new Promise((go) => setTimeout(go));

/** After the next frame; in a page that nobody sees there are none. */
export function drawn(): Promise<void> {
  return new Promise((go) => {
    requestAnimationFrame(() => setTimeout(go));
    setTimeout(go, 200);
  });
}

/** Tells a part of the page that it has its place now, before it is drawn there: what depends on its width moves nothing later. */
export const LAID_OUT = "laidout";

/** Milliseconds of work after which it is time for a pause. */
const ENOUGH = 8;

/** Pauses, but only where there was work enough since the last pause. */
export function pacer(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < ENOUGH) return;
    await pause();
    since = performance.now();
  };
}

/** Stops where `isStale` says that the rest is not wanted any more. */
export async function inPieces(work: Iterable<unknown>, isStale: () => boolean = () => false): Promise<void> {
  for (const _ of work) {
    await pause();
    if (isStale()) return;
  }
}

export function atOnce(work: Iterable<unknown>): void {
  Array.from(work);
}
