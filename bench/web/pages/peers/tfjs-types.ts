// As much of TensorFlow.js as the bench calls: its scripts put it into a global, which carries no types.

export interface TfTensor {
  data(): Promise<Float32Array>;
  dispose(): void;
}

export interface TfVariable extends TfTensor {
  readonly name: string;
  assign(value: TfTensor): void;
}

/** A number stands for a tensor of one. */
type Given = TfTensor | number;

export interface Tfjs {
  readonly version_core: string;
  readonly wasm: {
    setWasmPaths(folder: string): void;
    setThreadsCount(threads: number): void;
    getThreadsCount(): number;
  };
  readonly train: {
    adam(rate: number, beta1: number, beta2: number, epsilon: number): { applyGradients(gradients: object): void };
  };
  setBackend(name: "wasm"): Promise<boolean>;
  ready(): Promise<void>;
  tensor(data: Float32Array, shape: readonly number[]): TfTensor;
  tensor1d(data: Int32Array, dtype: "int32"): TfTensor;
  tensor2d(data: Float32Array, shape: readonly [number, number]): TfTensor;
  tensor3d(data: Float32Array, shape: readonly [number, number, number]): TfTensor;
  scalar(value: number): TfTensor;
  variable(value: TfTensor, trainable: boolean, name: string): TfVariable;
  matMul(a: TfTensor, b: TfTensor, transposeA?: boolean, transposeB?: boolean): TfTensor;
  mul(a: Given, b: Given): TfTensor;
  add(a: Given, b: Given): TfTensor;
  sub(a: Given, b: Given): TfTensor;
  div(a: Given, b: Given): TfTensor;
  minimum(a: Given, b: Given): TfTensor;
  addN(all: readonly TfTensor[]): TfTensor;
  square(x: TfTensor): TfTensor;
  sqrt(x: TfTensor): TfTensor;
  rsqrt(x: TfTensor): TfTensor;
  sigmoid(x: TfTensor): TfTensor;
  softmax(logits: TfTensor): TfTensor;
  logSoftmax(logits: TfTensor): TfTensor;
  sum(x: TfTensor): TfTensor;
  mean(x: TfTensor, axis: number, keepDims: boolean): TfTensor;
  oneHot(indices: TfTensor, depth: number): TfTensor;
  cast(x: TfTensor, dtype: "float32"): TfTensor;
  reshape(x: TfTensor, shape: readonly number[]): TfTensor;
  transpose(x: TfTensor, axes?: readonly number[]): TfTensor;
  split(x: TfTensor, parts: number, axis: number): readonly TfTensor[];
  keep(x: TfTensor): TfTensor;
  tidy<R extends TfTensor | readonly TfTensor[]>(work: () => R): R;
  grads(
    work: (...inputs: [TfTensor, TfTensor, TfTensor]) => TfTensor,
  ): (inputs: readonly TfTensor[], gradient: TfTensor) => readonly TfTensor[];
  variableGrads(
    loss: () => TfTensor,
    variables: readonly TfVariable[],
  ): { readonly value: TfTensor; readonly grads: Readonly<Record<string, TfTensor>> };
  customGrad(
    work: (
      a: TfTensor,
      b: TfTensor,
      save: (all: readonly TfTensor[]) => void,
    ) => {
      readonly value: TfTensor;
      readonly gradFunc: (of: TfTensor, saved: readonly [TfTensor, TfTensor]) => readonly TfTensor[];
    },
  ): (a: TfTensor, b: TfTensor) => TfTensor;
}
