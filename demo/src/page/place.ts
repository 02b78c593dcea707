// A reload comes back to where one was: the browser's own way of doing that ends with the event `load`, before a room stands.

const KEY = "heed-place";

/** The position that was left last, where this visit returns to it; otherwise the top. */
export function placeLeft(): number {
  addEventListener("pagehide", () => store(`${Math.round(scrollY)} ${location.pathname}`));
  const [visit] = performance.getEntriesByType("navigation");
  const comesBack = visit instanceof PerformanceNavigationTiming && visit.type !== "navigate";
  const [place, path] = stored().split(" ");
  return comesBack && path === location.pathname ? Number(place) : 0;
}

/** Storage may be forbidden; a reload then begins at the top. */
function stored(): string {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

function store(value: string): void {
  try {
    sessionStorage.setItem(KEY, value);
  } catch {
    // Nothing to do.
  }
}
