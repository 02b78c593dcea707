// What every page does around its room: the theme, links within the page, and in a room the line about the engine.

// A room imports its own styles after this file, and they refine these.
import "../../style/base.css";
import "../../style/page.css";
import "../../style/controls.css";
import "../../style/matrix.css";
import "../../style/arithmetic.css";
import "../../style/picture.css";
import "../../style/board.css";
import "../../style/embed.css";
import "../../style/print.css";
import { define } from "heed/viz";
import type { Engine } from "../engine/engine.js";
import { calm, find, h } from "../ui/dom.js";
import { scoreText } from "../ui/guess.js";
import { startEmbed } from "./embed.js";
import { startTheme } from "./kept.js";
import { startOffline } from "./offline.js";

// Before any room makes one.
define();

/** `engine`: where the page has a line about it. */
export function startFrame(engine?: Engine): void {
  if (engine !== undefined) engine.onStatus = () => showStatus(engine);
  startEmbed();
  startTheme(find("#theme", HTMLButtonElement));
  keepStateInLinks();
  showPresentRoom();
  startScore(find("#score", HTMLElement));
  void startOffline(find("#offline", HTMLElement));
}

/** Where the bar of rooms scrolls, the present one is in its middle. */
function showPresentRoom(): void {
  const here = document.querySelector<HTMLElement>(".rooms [aria-current]");
  here?.closest("nav")?.scrollTo({ left: here.offsetLeft - (innerWidth - here.offsetWidth) / 2 });
}

/** Quiet: how many guesses were right, on all pages together. */
function startScore(line: HTMLElement): void {
  const show = (): void => {
    line.textContent = scoreText();
    line.hidden = line.textContent === "";
  };
  addEventListener("guessed", show);
  show();
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

const VARIANT = { simd: "SIMD", relaxed: "relaxed SIMD" } as const;

/** The quiet line in the footer: which variant computes, on how many threads; and why not a faster one. */
function showStatus({ status }: Engine): void {
  if (status.kind === "loading") return;
  const [summary, details] = [find("#status-summary", HTMLElement), find("#status-details", HTMLElement)];
  const warning = find("#warning", HTMLElement);
  summary.dataset["kind"] = status.kind;
  warning.hidden = status.kind !== "failed";
  if (status.kind === "failed") {
    summary.textContent = "kernels not running";
    details.replaceChildren(h("p", {}, status.message));
    const own = " Everything below still works: it is computed by this page’s own arithmetic instead.";
    warning.replaceChildren(h("strong", {}, "The kernels did not start here."), ` ${status.message}.`, own);
    return;
  }
  const { variant, threads, cores, worker, isolated, backend, reasons } = status.capabilities;
  summary.textContent = `${VARIANT[variant]} · ${threads === 1 ? "1 thread" : `${threads} threads`}`;
  const computes = backend === "wasm" ? "WebAssembly" : "WebGPU";
  const facts = `${computes} on ${threads} of ${cores} cores, ${WORKER[worker ?? "none"]}; the page is ${isolated ? "" : "not "}isolated.`;
  details.replaceChildren(...[facts, ...reasons].map((text) => h("p", {}, text)));
}

const WORKER = {
  "shared-memory": "in a worker with shared memory",
  "private-memory": "in a worker with memory of its own",
  none: "on this page’s thread",
} as const;
