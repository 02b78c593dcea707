// Writes an ONNX model in protobuf's wire format, with the few messages of onnx.proto that a graph of a handful of nodes needs.

export type OperandData = Float32Array | Int32Array | Uint8Array | Int8Array | BigInt64Array;

/** A name stands for a size that calls decide. */
export type Size = number | string;

export interface Operand<S = number> {
  readonly name: string;
  readonly data: OperandData;
  readonly shape: readonly S[];
}

export type Attribute = { readonly int: number } | { readonly float: number } | { readonly ints: readonly number[] };

export interface GraphNode {
  readonly op: string;
  /** "" is ONNX's own set of operators. */
  readonly domain: string;
  /** An empty name leaves an optional input out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export interface Model<S = number> {
  readonly nodes: readonly GraphNode[];
  /** The inputs, which a call may give. */
  readonly inputs: readonly Operand<S>[];
  /** The initializers, which are part of the model. */
  readonly constants: readonly Operand[];
  /** The version of ONNX's own set of operators; default the latest that is used here. */
  readonly opset?: number;
  /** The names and shapes of the results. */
  readonly outputs: readonly { readonly name: string; readonly shape: readonly Size[] }[];
}

const IR_VERSION = 10;
const OPSET = 23;
const FLOAT = 1;
const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;

/** `isFed`: the inputs must be given at each call; otherwise the model holds them, and a call can override them. */
export function encodeModel(model: Model<Size>, isFed: boolean): Uint8Array<ArrayBuffer> {
  const held = isFed ? model.constants : [...model.constants, ...model.inputs];
  const graph = [
    ...model.nodes.map((node) => message(1, nodeFields(node))),
    text(2, "attention"),
    ...held.map((operand) => message(5, tensorFields(operand))),
    ...model.inputs.map(({ name, data, shape }) => message(11, valueFields(name, typeOf(data), shape))),
    ...model.outputs.map(({ name, shape }) => message(12, valueFields(name, FLOAT, shape))),
  ];
  return joined([
    number(1, IR_VERSION),
    message(7, graph),
    message(8, [text(1, ""), number(2, model.opset ?? OPSET)]),
    message(8, [text(1, "com.microsoft"), number(2, 1)]),
  ]);
}

function typeOf(data: OperandData): number {
  if (data instanceof Float32Array) return FLOAT;
  if (data instanceof Uint8Array) return 2;
  if (data instanceof Int8Array) return 3;
  return data instanceof Int32Array ? 6 : 7;
}

function nodeFields({ op, domain, inputs, outputs, attributes }: GraphNode): Uint8Array[] {
  const attribute = ([name, value]: [string, Attribute]) => {
    if ("int" in value) return message(5, [text(1, name), number(3, value.int), number(20, ATTRIBUTE_INT)]);
    if ("float" in value) return message(5, [text(1, name), float(2, value.float), number(20, ATTRIBUTE_FLOAT)]);
    return message(5, [text(1, name), ...value.ints.map((one) => number(8, one)), number(20, ATTRIBUTE_INTS)]);
  };
  return [
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, op),
    ...Object.entries(attributes).map(attribute),
    text(7, domain),
  ];
}

function tensorFields({ name, data, shape }: Operand<Size>): Uint8Array[] {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return [...shape.map((size) => number(1, Number(size))), number(2, typeOf(data)), text(8, name), bytes(9, raw)];
}

function valueFields(name: string, type: number, shape: readonly Size[]): Uint8Array[] {
  const dims = shape.map((size) => message(1, [typeof size === "string" ? text(2, size) : number(1, size)]));
  return [text(1, name), message(2, [message(1, [number(1, type), message(2, dims)])])];
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

const number = (field: number, value: number): Uint8Array =>
  Uint8Array.from([...varint(field * 8 + VARINT), ...varint(value)]);

const text = (field: number, value: string): Uint8Array => bytes(field, new TextEncoder().encode(value));

const message = (field: number, parts: readonly Uint8Array[]): Uint8Array => bytes(field, joined(parts));

function bytes(field: number, content: Uint8Array): Uint8Array {
  return joined([Uint8Array.from([...varint(field * 8 + LENGTH_DELIMITED), ...varint(content.length)]), content]);
}

function float(field: number, value: number): Uint8Array {
  const content = new Uint8Array(new Float32Array([value]).buffer);
  return joined([Uint8Array.from(varint(field * 8 + FIXED32)), content]);
}

/** Seven bits a byte, the lowest first. */
function varint(value: number): number[] {
  const digits: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) digits.push((left % 128) + 128);
  return [...digits, left];
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
