// A reload comes back to where one was: the browser's own way of doing that ends with the event `load`, before a room stands.

import { keep, kept } from "./kept.js";

const KEY = "heed-place";
const session = (): Storage => sessionStorage;

/** The position that was left last, where this visit returns to it; otherwise the top. */
export function placeLeft(): number {
  addEventListener("pagehide", () => keep(session, KEY, `${Math.round(scrollY)} ${location.pathname}`));
  const [visit] = performance.getEntriesByType("navigation");
  const comesBack = visit instanceof PerformanceNavigationTiming && visit.type !== "navigate";
  const [place, path] = kept(session, KEY).split(" ");
  return comesBack && path === location.pathname ? Number(place) : 0;
}
