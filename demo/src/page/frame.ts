// What every page does around its room: the theme, links within the page, and in a room the line about the engine.

import "../../style/base.css";
import "../../style/page.css";
import "../../style/controls.css";
import "../../style/matrix.css";
import "../../style/arithmetic.css";
import "../../style/picture.css";
import { define } from "heed/viz";
import type { Engine } from "../engine/engine.js";
import { calm, find } from "../ui/dom.js";
import { startOffline } from "./offline.js";
import { showStatus } from "./status.js";
import { startTheme } from "./theme.js";

// Before any room makes one.
define();

export function startFrame(): void {
  startTheme(find("#theme", HTMLButtonElement));
  keepStateInLinks();
  showPresentRoom();
  void startOffline(find("#offline", HTMLElement));
}

/** Where the bar of rooms scrolls, the present one is in its middle. */
function showPresentRoom(): void {
  const here = document.querySelector<HTMLElement>(".rooms [aria-current]");
  here?.closest("nav")?.scrollTo({ left: here.offsetLeft - (innerWidth - here.offsetWidth) / 2 });
}

export function tellOfEngine(engine: Engine): void {
  const [summary, details] = [find("#status-summary", HTMLElement), find("#status-details", HTMLElement)];
  const warning = find("#warning", HTMLElement);
  engine.onStatus = () => showStatus(engine.status, summary, details, warning);
}

/** Links within the page must not overwrite the state in the address. */
function keepStateInLinks(): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')) {
    link.addEventListener("click", (event) => {
      const target = document.querySelector<HTMLElement>(link.hash);
      if (target === null) return;
      event.preventDefault();
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
      target.scrollIntoView({ behavior: calm() ? "auto" : "smooth" });
    });
  }
}
