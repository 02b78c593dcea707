// The header of a GGUF file of a llama of any size, and no weights.

export interface GgufSizes {
  readonly dim: number;
  readonly hidden: number;
  readonly layers: number;
  /** Of GGML's types: 0 is F32, 8 is Q8_0, 14 is Q6_K. */
  readonly type: keyof typeof BYTES;
  readonly metadata?: Readonly<Record<string, string | readonly string[]>>;
}

/** Of a number, by type. */
const BYTES = { 0: 4, 8: 34 / 32, 14: 210 / 256 };

const STRING = 8;

const u32 = (number: number): Uint8Array => new Uint8Array(Uint32Array.of(number).buffer);
const u64 = (number: number): Uint8Array => new Uint8Array(BigUint64Array.of(BigInt(number)).buffer);
const f32 = (number: number): Uint8Array => new Uint8Array(Float32Array.of(number).buffer);
const text = (value: string): Uint8Array => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

function written(value: string | number | readonly string[]): Uint8Array {
  if (typeof value === "string") return Buffer.concat([u32(STRING), text(value)]);
  if (typeof value !== "number") return Buffer.concat([u32(9), u32(STRING), u64(value.length), ...value.map(text)]);
  return Number.isInteger(value) ? Buffer.concat([u32(4), u32(value)]) : Buffer.concat([u32(6), f32(value)]);
}

export function llamaHeader({ dim, hidden, layers, type, metadata }: GgufSizes): Uint8Array<ArrayBuffer> {
  const blocks = Array.from({ length: layers }, (_, at): [string, number[]][] => [
    ...["attn_norm", "ffn_norm"].map((name): [string, number[]] => [`blk.${at}.${name}.weight`, [dim]]),
    ...["q", "k", "v", "output"].map((name): [string, number[]] => [`blk.${at}.attn_${name}.weight`, [dim, dim]]),
    ...["gate", "up"].map((name): [string, number[]] => [`blk.${at}.ffn_${name}.weight`, [dim, hidden]]),
    [`blk.${at}.ffn_down.weight`, [hidden, dim]],
  ]).flat();
  const tensors: [string, number[]][] = [["token_embd.weight", [dim, 32]], ["output_norm.weight", [dim]], ...blocks];
  const values = Object.entries({
    "general.architecture": "llama",
    "llama.embedding_length": dim,
    "llama.block_count": layers,
    "llama.feed_forward_length": hidden,
    "llama.attention.head_count": 4,
    "llama.context_length": 64,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.vocab_size": 32,
    ...metadata,
  });
  let offset = 0;
  const described = tensors.map(([name, shape]) => {
    const own = shape.length === 1 ? 0 : type;
    const entry = Buffer.concat([text(name), u32(shape.length), ...shape.map(u64), u32(own), u64(offset)]);
    const numbers = shape.reduce((a, b) => a * b, 1);
    offset += 32 * Math.ceil((BYTES[own] * numbers) / 32);
    return entry;
  });
  const start = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(values.length)];
  const pairs = values.flatMap(([name, value]) => [text(name), written(value)]);
  // A reader looks at this many bytes at a time.
  return new Uint8Array(Buffer.concat([...start, ...pairs, ...described, new Uint8Array(2 ** 17)]));
}
