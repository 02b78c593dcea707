// What is kept on this device: the theme that was chosen, and the place on a page. Storage may be forbidden: then nothing is kept, and
// nothing found.

type Place = "localStorage" | "sessionStorage";

function kept(place: Place, key: string): string {
  try {
    return window[place].getItem(key) ?? "";
  } catch {
    return "";
  }
}

function keep(place: Place, key: string, value: string): void {
  try {
    window[place].setItem(key, value);
  } catch {
    // Then nothing is kept.
  }
}

const [THEME, PLACE, GUESSES] = ["heed-theme", "heed-place", "heed-guesses"] as const;

/** What was guessed, and whether it was right, by the names of questions. */
export function guessed(): readonly (readonly [name: string, isRight: boolean])[] {
  const entries = new URLSearchParams(kept("localStorage", GUESSES));
  return Array.from(entries, ([name, right]) => [name, right === "1"] as const);
}

/** The first guess counts. */
export function keepGuess(name: string, isRight: boolean): void {
  const all = new URLSearchParams(kept("localStorage", GUESSES));
  if (!all.has(name)) all.set(name, isRight ? "1" : "0");
  keep("localStorage", GUESSES, all.toString());
  dispatchEvent(new Event("guessed"));
}

/** Light or dark: as the system says, until the reader says otherwise. */
export function startTheme(button: HTMLButtonElement): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const bySystem = (): string => (system.matches ? "dark" : "light");
  let chosen = kept("localStorage", THEME);
  const now = (): string => (/^(?:light|dark)$/.test(chosen) ? chosen : bySystem());
  const other = (): string => (now() === "dark" ? "light" : "dark");
  const apply = (): void => {
    if (now() === chosen) document.documentElement.dataset["theme"] = chosen;
    button.setAttribute("aria-label", `Switch to the ${other()} theme`);
    button.dataset["now"] = now();
  };
  button.addEventListener("click", () => {
    chosen = other();
    keep("localStorage", THEME, chosen);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

/** By reloading it, or through the history: the browser knows the place. */
export function comesBack(): boolean {
  const [visit] = performance.getEntriesByType("navigation");
  return visit instanceof PerformanceNavigationTiming && visit.type !== "navigate";
}

/**
 * The position that was left last, where this visit returns to it; otherwise the top. The browser's own way of coming back to it after a
 * reload ends with the event `load`, before a room stands.
 */
export function placeLeft(): number {
  addEventListener("pagehide", () => keep("sessionStorage", PLACE, `${Math.round(scrollY)} ${location.pathname}`));
  const [place, path] = kept("sessionStorage", PLACE).split(" ");
  return comesBack() && path === location.pathname ? Number(place) : 0;
}
