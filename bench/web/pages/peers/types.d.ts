// As much of the peers as the bench calls, so that types can be checked where they are not installed.

declare module "onnxruntime-web/webgpu" {
  export * from "onnxruntime-web/wasm";
}

declare module "onnxruntime-web/wasm" {
  export class Tensor {
    constructor(type: "float32", data: Float32Array, shape: readonly number[]);
    constructor(type: "int32", data: Int32Array, shape: readonly number[]);
    constructor(type: "int64", data: BigInt64Array, shape: readonly number[]);
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
    add(other: JaxArray | number): JaxArray;
    sub(other: JaxArray): JaxArray;
    mul(other: JaxArray | number): JaxArray;
    div(other: JaxArray): JaxArray;
    reshape(shape: readonly number[]): JaxArray;
    data(): Promise<unknown>;
    dispose(): void;
  }
  type Device = "wasm" | "webgpu";
  type Operands = readonly JaxArray[];
  export function init(device: Device): Promise<readonly Device[]>;
  export function defaultDevice(device: Device): void;
  export function jit<Work extends (...operands: never) => unknown>(work: Work): Work & { dispose(): void };
  export function grad<Given extends Operands>(
    work: (...operands: Given) => JaxArray,
    options: { readonly argnums: readonly number[] },
  ): (...operands: Given) => JaxArray[];
  export function valueAndGrad<Others extends Operands>(
    work: (parameters: Operands, ...others: Others) => JaxArray,
  ): (parameters: Operands, ...others: Others) => [JaxArray, JaxArray[]];
  export function blockUntilReady(tree: object): Promise<unknown>;
  export const numpy: {
    readonly int32: "int32";
    array(
      data: Float32Array | Int32Array | number,
      options?: { readonly shape: readonly number[]; readonly dtype?: "int32" },
    ): JaxArray;
    zeros(shape: readonly number[]): JaxArray;
    matmul(a: JaxArray, b: JaxArray): JaxArray;
    transpose(x: JaxArray): JaxArray;
    split(x: JaxArray, parts: number, axis: number): JaxArray[];
    sum(x: JaxArray): JaxArray;
    sqrt(x: JaxArray): JaxArray;
    reciprocal(x: JaxArray): JaxArray;
    minimum(a: JaxArray, b: number): JaxArray;
  };
  export const nn: {
    oneHot(indices: JaxArray, classes: number): JaxArray;
    standardize(x: JaxArray, axis: number, options: { readonly epsilon: number }): JaxArray;
    gelu(x: JaxArray): JaxArray;
    logSoftmax(x: JaxArray, axis: number): JaxArray;
    dotProductAttention(
      query: JaxArray,
      key: JaxArray,
      value: JaxArray,
      options: { readonly isCausal: boolean },
    ): JaxArray;
  };
  export { JaxArray as Array };
}

declare module "@huggingface/transformers" {
  export interface PretrainedOptions {
    readonly device: "wasm";
    readonly dtype: "fp32" | "q8";
  }
  export interface PretrainedModel {
    (inputs: object): Promise<Readonly<Record<string, { readonly data: unknown } | undefined>>>;
    dispose(): Promise<unknown>;
  }
  export interface GeneratingModel extends PretrainedModel {
    generate(options: object): Promise<unknown>;
  }
  export interface Extractor {
    (texts: readonly string[], options: { readonly pooling: "mean"; readonly normalize: boolean }): Promise<unknown>;
    dispose(): Promise<unknown>;
  }
  export function pipeline(task: "feature-extraction", name: string, options: PretrainedOptions): Promise<Extractor>;
  export const AutoModelForCausalLM: {
    from_pretrained(name: string, options: PretrainedOptions): Promise<GeneratingModel>;
  };
  export const env: {
    readonly version: string;
    readonly backends: { readonly onnx: { readonly wasm: { numThreads: number; wasmPaths: string } } };
    allowRemoteModels: boolean;
    allowLocalModels: boolean;
    useCustomCache: boolean;
    customCache: { match(address: string): Promise<Response | undefined>; put(): Promise<void> };
  };
  export const AutoModel: { from_pretrained(name: string, options: PretrainedOptions): Promise<PretrainedModel> };
  export class Tensor {
    constructor(type: "int64", data: BigInt64Array, shape: readonly number[]);
  }
}

declare module "@wllama/wllama" {
  export const LoggerWithoutDebug: object;
  export class Wllama {
    static getLibllamaVersion(): string;
    constructor(
      files: { readonly default: string },
      options: { readonly logger: object; readonly suppressNativeLog: boolean },
    );
    setCompat(compat: null): void;
    getNumThreads(): number;
    loadModel(
      files: readonly Blob[],
      options: {
        readonly n_threads: number;
        readonly n_ctx: number;
        readonly n_batch: number;
        readonly n_gpu_layers: number;
        readonly n_parallel: number;
      },
    ): Promise<void>;
    createCompletion(options: {
      readonly prompt: string;
      readonly max_tokens: number;
      readonly temperature: number;
      readonly top_k: number;
      readonly ignore_eos: boolean;
    }): Promise<{
      readonly choices: readonly { readonly text: string }[];
      readonly timings?: { readonly prompt_n: number; readonly predicted_n: number };
    }>;
    exit(): Promise<void>;
  }
}
