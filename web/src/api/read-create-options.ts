// Reads the options of createHeed: checked values with defaults filled in.

import { HeedError } from "../base/errors.js";
import { isRecord, readChoice, readCount, readRecord, refusal } from "../base/read-values.js";
import { CREATE_OPTIONS, DEFAULTS, WASM_OVERRIDES } from "./options.js";

export interface ReadCreateOptions {
  readonly backend: "auto" | "wasm" | "webgpu";
  /** Checked where it is used. */
  readonly device: object | null;
  readonly threads: number | "auto";
  readonly variant: "auto" | "simd" | "relaxed";
  readonly offload: boolean | "auto";
  readonly wasm: ReadWasmOverrides;
}

export interface ReadWasmOverrides {
  readonly url: string | null;
  readonly binary: Uint8Array<ArrayBuffer> | null;
  readonly module: WebAssembly.Module | null;
  readonly workerUrl: string | null;
  readonly workerFactory: (() => unknown) | null;
}

export function readCreateOptions(options: unknown): ReadCreateOptions {
  const where = "createHeed";
  const given = readRecord(where, "options", options, CREATE_OPTIONS);
  const { threads } = given;
  return {
    backend: readChoice(where, "backend", given["backend"], ["auto", "wasm", "webgpu"], DEFAULTS.backend),
    device: readDevice(where, given["device"]),
    threads: threads === "auto" ? "auto" : readCount(where, "threads", threads, DEFAULTS.threads),
    variant: readChoice(where, "variant", given["variant"], ["auto", "simd", "relaxed"], DEFAULTS.variant),
    offload: readOffload(where, given["offload"]),
    wasm: readOverrides(where, given["wasm"]),
  };
}

function readDevice(where: string, value: unknown): object | null {
  if (value === undefined) return null;
  if (isRecord(value)) return value;
  throw refusal(where, "device", "a GPUDevice", value);
}

function readOffload(where: string, value: unknown): boolean | "auto" {
  if (value === undefined || value === "auto") return "auto";
  if (typeof value === "boolean") return value;
  throw refusal(where, "offload", 'true, false or "auto"', value);
}

function readOverrides(where: string, value: unknown): ReadWasmOverrides {
  const given = readRecord(where, "wasm", value, WASM_OVERRIDES);
  const overrides: ReadWasmOverrides = {
    url: readUrl(where, "wasm.url", given["url"]),
    binary: readBinary(where, given["binary"]),
    module: readModule(where, given["module"]),
    workerUrl: readUrl(where, "wasm.workerUrl", given["workerUrl"]),
    workerFactory: readFactory(where, given["workerFactory"]),
  };
  const sources = [overrides.url, overrides.binary, overrides.module].filter((source) => source !== null);
  if (sources.length > 1) {
    throw new HeedError("option", `${where}: wasm.url, wasm.binary and wasm.module exclude each other`);
  }
  return overrides;
}

function readUrl(where: string, name: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && value !== "") return value;
  if (isRecord(value) && typeof value["href"] === "string") return value["href"];
  throw refusal(where, name, "a string or a URL", value);
}

/** A copy, because compiling is asynchronous and the caller may write to its own meanwhile. */
function readBinary(where: string, value: unknown): Uint8Array<ArrayBuffer> | null {
  if (value === undefined) return null;
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
  if (value instanceof ArrayBuffer) return new Uint8Array(value.slice(0));
  throw refusal(where, "wasm.binary", "an ArrayBuffer or Uint8Array", value);
}

function readModule(where: string, value: unknown): WebAssembly.Module | null {
  if (value === undefined) return null;
  if (value instanceof WebAssembly.Module) return value;
  throw refusal(where, "wasm.module", "a WebAssembly.Module", value);
}

function readFactory(where: string, value: unknown): (() => unknown) | null {
  if (value === undefined) return null;
  if (typeof value === "function") return () => value();
  throw refusal(where, "wasm.workerFactory", "a function", value);
}
