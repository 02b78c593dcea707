// The row and its gradients, as code.

import { type Matrix, unstack } from "../../src/model/matrix.js";
import { heedTensor, single, torchTensor } from "../../src/ui/code.js";
import { INPUTS, type LearningScene, VALUE_WIDTH } from "./scene.js";

const gradientOf = ({ dOutput }: LearningScene): Matrix => unstack(1, VALUE_WIDTH, dOutput);

export function heedCode(scene: LearningScene): string {
  const { q, k, v } = INPUTS;
  return `// ${about(scene)}
import { createHeed } from "heed";

const heed = await createHeed();
${heedTensor("q", [q])}
${heedTensor("k", [k])}
${heedTensor("v", [v])}
${heedTensor("outputGradient", [gradientOf(scene)])}

const { output, backward } = await heed.attentionVjp(q, k, v, { scale: ${single(scene.scale)} });
const { dq, dk, dv } = await backward(outputGradient);
console.log(dq.data, dk.data, dv.data);
heed.dispose();
`;
}

export function torchCode(scene: LearningScene): string {
  const { q, k, v } = INPUTS;
  return `# ${about(scene)}
import torch

${torchTensor("q", [q])}.requires_grad_()
${torchTensor("k", [k])}.requires_grad_()
${torchTensor("v", [v])}.requires_grad_()
${torchTensor("output_gradient", [gradientOf(scene)])}

output = torch.softmax(q @ k.transpose(-2, -1) * ${single(scene.scale)}, dim=-1) @ v
output.backward(output_gradient)
print(q.grad, k.grad, v.grad)
`;
}

function about({ state }: LearningScene): string {
  return `the gradients of one query's row, scores times ${state.factor}`;
}
