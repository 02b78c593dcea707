// The quiet line in the header: which variant computes, on how many threads, how long a call takes; more on request.

import type { EngineStatus } from "../engine/engine.js";
import { h } from "../ui/dom.js";

const VARIANT = { simd: "SIMD", relaxed: "relaxed SIMD" } as const;

export function showStatus(
  status: EngineStatus,
  summary: HTMLElement,
  details: HTMLElement,
  warning: HTMLElement,
): void {
  summary.dataset["kind"] = status.kind;
  warning.hidden = status.kind !== "failed";
  if (status.kind === "loading") {
    summary.textContent = "loading the kernels";
    return;
  }
  if (status.kind === "failed") {
    summary.textContent = "kernels not running";
    details.replaceChildren(h("p", {}, status.message));
    warning.replaceChildren(
      h("strong", {}, "The kernels did not start here."),
      ` ${status.message}. Everything below still works: it is computed by this page’s own arithmetic instead.`,
    );
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
  details.replaceChildren(
    h("dl", {}, ...Object.entries(facts).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    ...found.reasons.map((reason) => h("p", {}, reason)),
  );
}

const WORKER = {
  "shared-memory": "with shared memory",
  "private-memory": "with memory of its own",
  none: "none: on this page’s thread",
} as const;

function timeOf(microseconds: number): string {
  return microseconds < 1000 ? `${Math.round(microseconds)} µs` : `${(microseconds / 1000).toFixed(1)} ms`;
}
