// What a stranger's first script does; run in a folder that holds nothing but the installed package. Ends by itself.
import assert from "node:assert/strict";
import { createHeed, HeedError } from "heed";
import { attention as reference } from "heed/reference";

const values = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(i + 1));
const q = { data: values(2 * 5 * 8), shape: [1, 2, 5, 8] };
const k = { data: values(2 * 7 * 8), shape: [1, 2, 7, 8] };
const v = { data: values(2 * 7 * 8).reverse(), shape: [1, 2, 7, 8] };

const heed = await createHeed();
assert.equal(heed.capabilities.worker, "shared-memory", heed.capabilities.reasons.join());
const { output, weights } = await heed.attention(q, k, v, { causal: true, return: { weights: true } });
const expected = reference(q, k, v, { causal: true });
assert.deepEqual(output.shape, [1, 2, 5, 8]);
assert.ok(output.data.every((value, i) => Math.abs(value - expected.output.data[i]) < 1e-6));
assert.ok(weights.data.every((value, i) => Math.abs(value - expected.weights.data[i]) < 1e-6));
await assert.rejects(heed.attention(q, k, q), (error) => error instanceof HeedError && error.code === "shape");
// Neither disposed nor exited: an idle engine must not keep the process.
console.log(`done ${heed.capabilities.variant}`);
