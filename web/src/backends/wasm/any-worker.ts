// A worker of this runtime, from the text of a script or from a file: a browser's, or Node's.

import { workerKind } from "../../platform/features.js";
import { currentHost, type NodeWorkerConstructor, nodeWorker } from "../../platform/host.js";
import type { FromWorker, ToWorker } from "./protocol.js";

/** What heed needs of a browser's Worker; Node's has the same but for its events. */
export interface AnyWorker {
  postMessage(message: ToWorker, transfer: readonly ArrayBuffer[]): void;
  terminate(): unknown;
  addEventListener?(
    type: string,
    listener: (event: { readonly data?: FromWorker; readonly message?: string }) => void,
  ): void;
  on?(type: string, listener: (value: unknown) => void): void;
  ref?(): void;
  unref?(): void;
}

/** The script imports nothing, but Deno has no workers other than modules. */
const WEB_WORKER: WorkerOptions = { type: "module", name: "heed" };

/** No flags of the process's own: a loader meant for its files would run before this script. */
const NODE_WORKER = { name: "heed", execArgv: [] } as const;

export function scriptWorker(source: string): AnyWorker {
  const NodeWorker = nodeWorkerHere();
  return NodeWorker === null ? blobWorker(source) : new NodeWorker(source, { ...NODE_WORKER, eval: true });
}

/** `url` may be relative where there is a page that it can be relative to. */
export function fileWorker(url: string): AnyWorker {
  const NodeWorker = nodeWorkerHere();
  if (NodeWorker !== null) return new NodeWorker(new URL(url), NODE_WORKER);
  return new Worker(url, WEB_WORKER) as AnyWorker;
}

function nodeWorkerHere(): NodeWorkerConstructor | null {
  const host = currentHost();
  return workerKind(host) === "node" ? nodeWorker(host) : null;
}

function blobWorker(source: string): AnyWorker {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(url, WEB_WORKER);
  const revoke = (): void => URL.revokeObjectURL(url);
  // Not at once: some runtimes fetch the source later.
  worker.addEventListener("message", revoke, { once: true });
  worker.addEventListener("error", revoke, { once: true });
  // The boundary to the runtime's own kind.
  return worker as AnyWorker;
}
