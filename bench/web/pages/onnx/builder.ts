// Builds the ONNX graph of a model node by node. Linear layers and tables are stored as exporters of such models write them: in f32, or as
// onnxruntime's dynamic quantization does: weights of 8 bits with one scale a matrix, activations rounded to 8 bits a tensor when they come.

import type { Attribute, GraphNode, Model, Operand, OperandData, Size } from "./encode.js";

export interface Matrix {
  readonly data: Float32Array;
  /** [outputs, inputs], or [words, dim]. */
  readonly shape: readonly number[];
}

export type OnnxFormat = "f32" | "q8";

/** Of ONNX's tensor types. */
const FLOAT = 1;
/** Which exports of models have; onnxruntime's fusions know the operators of this version. */
const OPSET = 17;

export class GraphBuilder {
  readonly #format;
  readonly #nodes: GraphNode[] = [];
  readonly #constants: Operand[] = [];
  /** What activations were rounded to, which layers of one input share. */
  readonly #rounded = new Map<string, readonly [integers: string, scale: string, zero: string]>();

  constructor(format: OnnxFormat) {
    this.#format = format;
  }

  model(inputs: readonly Operand<Size>[], outputs: Model["outputs"]): Model<Size> {
    return { nodes: this.#nodes, constants: this.#constants, inputs, outputs, opset: OPSET };
  }

  constant(data: OperandData, ...shape: readonly number[]): string {
    const name = `constant${this.#constants.length}`;
    this.#constants.push({ name, data, shape });
    return name;
  }

  integers(...numbers: readonly number[]): string {
    return this.constant(BigInt64Array.from(numbers, BigInt), numbers.length);
  }

  /** A node of one result, whose name is returned. */
  op(op: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}, domain = ""): string {
    const [output = ""] = this.ops(op, inputs, [`${op}${this.#nodes.length}`], attributes, domain);
    return output;
  }

  ops(
    op: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
    domain = "",
  ): readonly string[] {
    this.#nodes.push({ op, domain, inputs, outputs, attributes });
    return outputs;
  }

  linear(x: string, weight: Matrix, bias?: Matrix): string {
    const product =
      this.#format === "f32" ? this.op("MatMul", [x, this.#transposed(weight)]) : this.#rounding(x, weight);
    return bias === undefined ? product : this.op("Add", [product, this.constant(bias.data, ...bias.shape)]);
  }

  /** Rows of a table by their indices. */
  gather(table: Matrix, indices: string): string {
    if (this.#format === "f32") return this.op("Gather", [this.constant(table.data, ...table.shape), indices]);
    const { integers, scale } = rounded(table.data);
    const rows = this.op("Gather", [this.constant(integers, ...table.shape), indices]);
    return this.op("DequantizeLinear", [rows, this.constant(Float32Array.of(scale)), this.constant(new Int8Array(1))]);
  }

  #transposed({ data, shape: [outputs = 0, inputs = 0] }: Matrix): string {
    return this.constant(transposed(data, outputs, inputs, new Float32Array(data.length)), inputs, outputs);
  }

  #rounding(x: string, { data, shape: [outputs = 0, inputs = 0] }: Matrix): string {
    const { integers, scale } = rounded(data);
    const weight = this.constant(transposed(integers, outputs, inputs, new Int8Array(data.length)), inputs, outputs);
    const [activations, step, zero] = this.#activations(x);
    const sums = this.op("MatMulInteger", [activations, weight, zero, this.constant(new Int8Array(1))]);
    const steps = this.op("Mul", [step, this.constant(Float32Array.of(scale))]);
    return this.op("Mul", [this.op("Cast", [sums], { to: { int: FLOAT } }), steps]);
  }

  #activations(x: string): readonly [string, string, string] {
    const known = this.#rounded.get(x);
    if (known !== undefined) return known;
    const names = [`${x}_integers`, `${x}_scale`, `${x}_zero`] as const;
    this.ops("DynamicQuantizeLinear", [x], names);
    this.#rounded.set(x, names);
    return names;
  }
}

/** One scale for all, no zero point. */
function rounded(data: Float32Array): { readonly integers: Int8Array; readonly scale: number } {
  const scale = data.reduce((most, number) => Math.max(most, Math.abs(number)), 0) / 127;
  return { integers: Int8Array.from(data, (number) => Math.round(number / scale)), scale };
}

function transposed<Numbers extends Float32Array | Int8Array>(
  from: Numbers,
  rows: number,
  columns: number,
  to: Numbers,
): Numbers {
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) to[column * rows + row] = from[row * columns + column] ?? 0;
  }
  return to;
}
