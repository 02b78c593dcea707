// Beside the pictures, instead of the arithmetic: the call of what is shown, in heed and in PyTorch. Long tensors are folded, and lines that
// are others than a moment ago are lit.

import { copyFrom } from "./code.js";
import { choice } from "./controls.js";
import { button, h } from "./dom.js";

const NAMES = { heed: "heed", torch: "PyTorch" } as const;
type Kind = keyof typeof NAMES;
const TABS = { arithmetic: "Arithmetic", code: "Code" } as const;

export function codePanel(readout: HTMLElement, codes: Readonly<Record<Kind, () => string>>) {
  let kind: Kind = "heed";
  let before: readonly string[] = [];
  const text = h("div", { class: "code-text", tabindex: 0, role: "region", "aria-label": "The call of what is shown" });
  const kinds = choice<Kind>("In", NAMES, (chosen) => {
    kind = chosen;
    before = [];
    refresh();
  });
  const copy = button("Copy", () => void copyFrom(copy, codes[kind]()), "link");
  const element = h(
    "div",
    { class: "code-panel" },
    h("div", { class: "controls-options code-buttons" }, kinds.element, copy),
    text,
  );
  const tabs = choice<keyof typeof TABS>(h("span", { class: "spoken" }, "Beside the picture"), TABS, show);

  function show(tab: keyof typeof TABS): void {
    tabs.show(tab);
    [element.hidden, readout.hidden] = [tab !== "code", tab === "code"];
    refresh();
  }

  /** Only where somebody looks. */
  function refresh(): void {
    if (element.hidden) return;
    const code = codes[kind]();
    const lines = code.split("\n");
    if (lines.join() === before.join()) return;
    const isNew = (line: string): boolean => before.length > 0 && !before.includes(line);
    text.replaceChildren(...folded(code, isNew));
    before = lines;
  }

  kinds.show(kind);
  show("arithmetic");
  tabs.element.classList.add("side-tabs");
  return { element: h("div", { class: "side" }, tabs.element, readout, element), refresh };
}

/** A run of rows of numbers shows its first. */
function folded(text: string, isNew: (line: string) => boolean): HTMLElement[] {
  const shown = (line: string): HTMLElement => h("code", { class: isNew(line) ? "changed" : undefined }, `${line}\n`);
  return text.split(/((?:^ {4}[-\d.].*\n){2,})/m).flatMap((part, place) => {
    const lines = part === "" ? [] : part.replace(/\n$/, "").split("\n");
    if (place % 2 === 0) return lines.map(shown);
    const [first = "", ...rest] = lines;
    const said = `    … ${rest.length} more ${rest.length === 1 ? "row" : "rows"}, copied as well`;
    const summary = h("summary", { class: rest.some(isNew) ? "changed" : undefined }, said);
    return [shown(first), h("details", {}, summary, ...rest.map(shown))];
  });
}
