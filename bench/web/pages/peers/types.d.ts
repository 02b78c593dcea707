// As much of the peers as the bench calls, so that types can be checked where they are not installed.

declare module "onnxruntime-web/webgpu" {
  export * from "onnxruntime-web/wasm";
}

declare module "onnxruntime-web/wasm" {
  export class Tensor {
    constructor(type: "float32", data: Float32Array, shape: readonly number[]);
    constructor(type: "int32", data: Int32Array, shape: readonly number[]);
    readonly data: unknown;
  }
  export class InferenceSession {
    static create(
      model: Uint8Array,
      options: { readonly executionProviders: readonly ("wasm" | "webgpu")[] },
    ): Promise<InferenceSession>;
    run(feeds: Readonly<Record<string, Tensor>>): Promise<Record<string, Tensor>>;
    release(): Promise<void>;
  }
  export const env: {
    logLevel: "error";
    readonly wasm: { numThreads: number };
    readonly versions: { readonly web: string };
  };
}

declare module "@litertjs/core" {
  export class Environment {
    static create(options: { readonly webGpuDevice: null }): Promise<Environment>;
    delete(): void;
  }
  export class Tensor {
    constructor(data: Float32Array, shape: readonly number[], environment: Environment);
    toTypedArray(): unknown;
    delete(): void;
  }
  export function loadLiteRt(folder: string, options: { readonly threads: boolean }): Promise<unknown>;
  export function loadAndCompile(
    model: Uint8Array,
    options: {
      readonly accelerator: "wasm";
      readonly environment: Environment;
      readonly cpuOptions: { readonly numThreads: number };
    },
  ): Promise<{
    getInputDetails(): readonly { readonly name: string }[];
    run(inputs: readonly Tensor[]): Promise<readonly Tensor[]>;
    delete(): void;
  }>;
}

declare module "@jax-js/jax" {
  class JaxArray {
    readonly ref: JaxArray;
    data(): Promise<unknown>;
    dispose(): void;
  }
  type Device = "wasm" | "webgpu";
  export function init(device: Device): Promise<readonly Device[]>;
  export function defaultDevice(device: Device): void;
  export function jit<Operands extends readonly JaxArray[]>(
    work: (...operands: Operands) => JaxArray,
  ): ((...operands: Operands) => JaxArray) & { dispose(): void };
  export const numpy: { array(data: Float32Array, options: { readonly shape: readonly number[] }): JaxArray };
  export const nn: {
    dotProductAttention(
      query: JaxArray,
      key: JaxArray,
      value: JaxArray,
      options: { readonly isCausal: boolean },
    ): JaxArray;
  };
  export { JaxArray as Array };
}
