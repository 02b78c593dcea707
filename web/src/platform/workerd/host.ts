// Cloudflare's runtime in place of host.ts: it has Node's names without the threads and files behind them.

import type { Host } from "../host.js";

export const currentHost = (): Host => ({ WebAssembly });
export const nodeWorker = (): null => null;
export const nodeCores = (): null => null;
export const nodeFile = async (): Promise<null> => null;
