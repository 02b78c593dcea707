// ONNX's operators that the conformance suite computes, with the number of their cases: docs/conformance.md is made of this list.

export interface Operator {
  readonly cases: number;
  /** What computes them. */
  readonly as: string;
  /** The C++ tests that compute them too. */
  readonly native: string | null;
}

export const OPERATORS = {
  Attention: {
    cases: 49,
    as: "`attention`, `attentionSync`, and `attention` with half of the keys in a KV cache",
    native: "conformance_test.cpp",
  },
  FlexAttention: {
    cases: 6,
    as: "`attention` and `attentionSync` with `scoreMod`",
    native: "conformance_flex_test.cpp",
  },
  LinearAttention: { cases: 6, as: "`linearAttention`", native: "conformance_extra_test.cpp" },
  RotaryEmbedding: { cases: 4, as: "`rope`", native: "conformance_extra_test.cpp" },
  TensorScatter: { cases: 1, as: "`append` and `truncate` of a KV cache", native: null },
  LayerNormalization: { cases: 14, as: "`LayerNorm`", native: "conformance_layers_test.cpp" },
  RMSNormalization: { cases: 10, as: "`RMSNorm`", native: "conformance_layers_test.cpp" },
  SwiGLU: {
    cases: 1,
    as: "`MLP`; with other values of `alpha` composed in a pass, beside double precision",
    native: null,
  },
  CausalConvWithState: { cases: 7, as: "composed in a pass: `concat`, `slice`, `mul`, `add`, `sigmoid`", native: null },
  Softmax: { cases: 4, as: "`softmax` of a pass", native: null },
  LogSoftmax: { cases: 3, as: "composed in a pass: `sub`, `max`, `exp`, `sum`, `log`", native: null },
} as const satisfies Readonly<Record<string, Operator>>;

export type OperatorName = keyof typeof OPERATORS;
