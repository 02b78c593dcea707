// Whether what stands on a page stays where it is.

import type { Page } from "playwright";

interface Jumps {
  /** The browser's own measure: how much of what was in view moved, and how far. */
  readonly sum: number;
  /** Where each part of the room began as soon as all had their places, which is before the kernels are loaded. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** In the page, before anything of its own. */
export function watchJumps(): void {
  const isLaidOut = (): boolean =>
    document.querySelector(".coming, .to-come") === null &&
    (document.querySelector(".agreement")?.textContent ?? "") !== "";
  const places = (): string[] =>
    Array.from(document.querySelectorAll(".picture, .below-picture, .room-foot, footer"))
      .filter((part) => part.checkVisibility())
      .map((part) => {
        const name = part instanceof HTMLElement ? (part.dataset["picture"] ?? part.className) : "";
        return `${name} at ${(part.getBoundingClientRect().top + scrollY).toFixed(2)}`;
      });
  let before: string[] = [];
  let sum = 0;
  const look = (): void => {
    if (isLaidOut()) before = places();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += "value" in entry ? Number(entry.value) : 0;
  }).observe({ type: "layout-shift", buffered: true });
  Object.assign(globalThis, { jumps: () => ({ sum, before, after: places() }) });
}

export function jumpsOf(page: Page): Promise<Jumps> {
  return page.evaluate<Jumps>("jumps()");
}

/** As a reader does, to the end and back, with a rest at the end for what begins by itself when it is seen. */
export async function scrollThrough(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let top = 0; top < document.documentElement.scrollHeight - innerHeight; top += 400) {
      scrollTo({ top, behavior: "instant" });
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
    await new Promise((done) => setTimeout(done, 500));
    scrollTo({ top: 0, behavior: "instant" });
    await new Promise(requestAnimationFrame);
  });
}
