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
  const { capabilities, microseconds } = status;
  const threads = capabilities.threads === 1 ? "1 thread" : `${capabilities.threads} threads`;
  const time = microseconds === null ? "…" : timeOf(microseconds);
  summary.textContent = `${VARIANT[capabilities.variant]} · ${threads} · ${time}`;
  details.replaceChildren(
    h(
      "dl",
      {},
      ...row("Computes", capabilities.backend === "wasm" ? "WebAssembly" : "WebGPU"),
      ...row("Variant", VARIANT[capabilities.variant]),
      ...row("Threads", `${capabilities.threads} of ${capabilities.cores} cores`),
      ...row("Worker", WORKER[capabilities.worker ?? "none"]),
      ...row("Isolated page", capabilities.isolated ? "yes" : "no"),
      ...row(
        "Last call",
        microseconds === null ? "being timed" : `${timeOf(microseconds)}, median of 15, awaited from the page`,
      ),
    ),
    ...capabilities.reasons.map((reason) => h("p", {}, reason)),
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

function row(name: string, value: string): readonly HTMLElement[] {
  return [h("dt", {}, name), h("dd", {}, value)];
}
