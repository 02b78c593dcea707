// Light or dark: as the system says, until the reader says otherwise.

import { keep, kept } from "./kept.js";

const KEY = "heed-theme";
const local = (): Storage => localStorage;

export function startTheme(button: HTMLButtonElement): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = kept(local, KEY);
  const now = (): string => (/^(?:light|dark)$/.test(chosen) ? chosen : system.matches ? "dark" : "light");
  const apply = (): void => {
    if (now() === chosen) document.documentElement.dataset["theme"] = chosen;
    button.setAttribute("aria-label", `Switch to the ${now() === "dark" ? "light" : "dark"} theme`);
    button.dataset["now"] = now();
  };
  button.addEventListener("click", () => {
    chosen = now() === "dark" ? "light" : "dark";
    keep(local, KEY, chosen);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}
