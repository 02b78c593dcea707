// Makes a worker, a browser's or Node's, from the text of a script or from a file.

import { workerKind } from "../../platform/features.js";
import { currentHost, type NodeWorkerConstructor, nodeWorker } from "../../platform/host.js";
import type { ToWorker } from "./protocol.js";

export interface WorkerEvent {
  readonly data?: unknown;
  readonly message?: string;
}

/** What heed needs of a worker. Browsers' workers have addEventListener, Node's have on, ref and unref. */
export interface AnyWorker {
  postMessage(message: ToWorker, transfer: readonly ArrayBuffer[]): void;
  terminate(): unknown;
  addEventListener?(type: string, listener: (event: WorkerEvent) => void): void;
  on?(type: string, listener: (value: unknown) => void): void;
  ref?(): void;
  unref?(): void;
}

/** The script needs no module features, but Deno has only module workers. */
const WEB_WORKER: WorkerOptions = { type: "module", name: "heed" };

/** The worker inherits no flags of the process, because a loader given to the process would run before this script. */
const NODE_WORKER = { name: "heed", execArgv: [] } as const;

export function scriptWorker(source: string): AnyWorker {
  const NodeWorker = nodeWorkerHere();
  return NodeWorker === null ? blobWorker(source) : new NodeWorker(source, { ...NODE_WORKER, eval: true });
}

/** `url` may be relative to a page's address; outside of pages it must be absolute. */
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
  // Some runtimes fetch the source only after the constructor returned.
  worker.addEventListener("message", revoke, { once: true });
  worker.addEventListener("error", revoke, { once: true });
  // AnyWorker has a subset of the runtime's Worker.
  return worker as AnyWorker;
}
