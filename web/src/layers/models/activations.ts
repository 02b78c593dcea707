// The activations of configurations, by transformers' names.

export const ACTIVATIONS = {
  gelu: "gelu",
  gelu_new: "gelu-tanh",
  gelu_pytorch_tanh: "gelu-tanh",
  relu: "relu",
  silu: "silu",
} as const;

/** Those of gates, which a unit of two matrices applies to one of them. */
export const GATES = {
  gelu: "geglu",
  gelu_new: "geglu-tanh",
  gelu_pytorch_tanh: "geglu-tanh",
  silu: "swiglu",
} as const;
