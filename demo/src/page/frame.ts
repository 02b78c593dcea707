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

/** The quiet line in the header: which variant computes, on how many threads, how long a call takes; more on request. */
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
  const { capabilities: found, microseconds } = status;
  const time = microseconds === null ? undefined : timeOf(microseconds);
  const threads = found.threads === 1 ? "1 thread" : `${found.threads} threads`;
  summary.textContent = `${VARIANT[found.variant]} · ${threads} · ${time ?? "…"}`;
  const facts = {
    Computes: found.backend === "wasm" ? "WebAssembly" : "WebGPU",
    Variant: VARIANT[found.variant],
    Threads: `${found.threads} of ${found.cores} cores`,
    Worker: WORKER[found.worker ?? "none"],
    "Isolated page": found.isolated ? "yes" : "no",
    "Last call": time === undefined ? "being timed" : `${time}, median of 15, awaited from the page`,
  };
  const pairs = Object.entries(facts).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
  details.replaceChildren(h("dl", {}, ...pairs), ...found.reasons.map((reason) => h("p", {}, reason)));
}

const WORKER = {
  "shared-memory": "with shared memory",
  "private-memory": "with memory of its own",
  none: "none: on this page’s thread",
} as const;

function timeOf(microseconds: number): string {
  return microseconds < 1000 ? `${Math.round(microseconds)} µs` : `${(microseconds / 1000).toFixed(1)} ms`;
}
