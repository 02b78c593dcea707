// As much of TensorFlow.js as the bench calls: its scripts put it into a global, which carries no types.

export interface TfTensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}

export interface Tfjs {
  readonly version_core: string;
  readonly wasm: {
    setWasmPaths(folder: string): void;
    setThreadsCount(threads: number): void;
    getThreadsCount(): number;
  };
  setBackend(name: "wasm"): Promise<boolean>;
  ready(): Promise<void>;
  tensor2d(data: Float32Array, shape: readonly [number, number]): TfTensor;
  tensor3d(data: Float32Array, shape: readonly [number, number, number]): TfTensor;
  scalar(value: number): TfTensor;
  matMul(a: TfTensor, b: TfTensor, transposeA?: boolean, transposeB?: boolean): TfTensor;
  mul(a: TfTensor, b: TfTensor): TfTensor;
  add(a: TfTensor, b: TfTensor): TfTensor;
  softmax(logits: TfTensor): TfTensor;
  tidy(work: () => TfTensor): TfTensor;
}
