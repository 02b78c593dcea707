// Light or dark: as the system says, until the reader says otherwise.

const KEY = "heed-theme";

export function startTheme(button: HTMLButtonElement): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = stored();
  const apply = (): void => {
    const dark = chosen === null ? system.matches : chosen === "dark";
    if (chosen === null) delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = chosen;
    button.setAttribute("aria-label", dark ? "Switch to the light theme" : "Switch to the dark theme");
    button.dataset["now"] = dark ? "dark" : "light";
  };
  button.addEventListener("click", () => {
    chosen = button.dataset["now"] === "dark" ? "light" : "dark";
    store(chosen);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

/** Storage may be forbidden; the choice then lasts as long as the page. */
function stored(): string | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

function store(value: string): void {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Nothing to do: the attribute on the page is enough for now.
  }
}
