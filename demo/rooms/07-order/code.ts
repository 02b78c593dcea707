// The sentence as it stands, as code.

import { rowsOf } from "../../src/model/matrix.js";
import { heedSource, NOTHING, single, torchSource } from "../../src/ui/code.js";
import { SCALE } from "./attend.js";
import { callsOf } from "./calls.js";
import type { OrderScene } from "./scene.js";
import type { Kind } from "./state.js";

export function heedCode(scene: OrderScene): string {
  const [call] = callsOf(scene);
  return call === undefined ? `// ${NOTHING}` : heedSource({ about: aboutOf(scene), call, options: call.options });
}

export function torchCode(scene: OrderScene): string {
  const [call] = callsOf(scene);
  if (call === undefined) return `# ${NOTHING}`;
  const lines = rowsOf(scene.now.bias).map((row) => `    [${row.map(single).join(", ")}]`);
  const bias = { given: `bias = torch.tensor([\n${lines.join(",\n")},\n])\n`, option: ", attn_mask=bias" };
  const special: Partial<Readonly<Record<Kind, { readonly given?: string; readonly option: string }>>> = {
    causal: { option: ", is_causal=True" },
    alibi: bias,
    relative: bias,
  };
  const { given = "", option = "" } = special[scene.state.kind] ?? {};
  const line = `output = F.scaled_dot_product_attention(q, k, v${option}, scale=${single(SCALE)})`;
  return torchSource({ about: aboutOf(scene), call }, `${given}\n${line}\n`);
}

const ALREADY: Partial<Readonly<Record<Kind, string>>> = {
  rope: " (q and k are turned already)",
  sinusoidal: " (positions are in q, k and v already)",
  learned: " (positions are in q, k and v already)",
};

function aboutOf({ labels, state }: OrderScene): string {
  return labels.join(" ").replace(/\s+/g, " ") + (ALREADY[state.kind] ?? "");
}
