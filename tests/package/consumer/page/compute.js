// What every consumer does with the package, whatever brought it there: a call on each way to compute, and a mistake.

/** Multiples of 1/32, so that every engine has the very same numbers. */
const values = (count, seed) => Float32Array.from({ length: count }, (_, i) => ((i * 37 + seed * 11) % 64) / 32 - 1);

const query = { data: values(2 * 5 * 8, 1), shape: [1, 2, 5, 8] };
const key = { data: values(2 * 7 * 8, 2), shape: [1, 2, 7, 8] };
const value = { data: values(2 * 7 * 8, 3), shape: [1, 2, 7, 8] };

/** `heed` and `reference` are the modules of the package; `options` are createHeed's. Everything returned survives JSON. */
export async function compute(heed, reference, options) {
  const engine = await heed.createHeed({ offload: true, ...options });
  const output = async (result) => [...(await result).output.data];
  const causal = { causal: true };
  const outcome = {
    output: await output(engine.attention(query, key, value, causal)),
    sync: await output(engine.attentionSync(query, key, value, causal)),
    shared: await output(heed.attention(query, key, value, causal)),
    reference: await output(reference.attention(query, key, value, causal)),
    refused: await engine.attention(query, key, query).catch((error) => error instanceof heed.HeedError && error.code),
    worker: engine.capabilities.worker,
    variant: engine.capabilities.variant,
    isolated: engine.capabilities.isolated,
    reasons: engine.capabilities.reasons,
  };
  engine.dispose();
  return outcome;
}

/** Leaves the outcome of a page where its test looks for it. */
export function leave(outcome) {
  outcome.then(
    (result) => Object.assign(globalThis, { outcome: result }),
    (error) => Object.assign(globalThis, { outcome: { failure: `${error.code}: ${error.message}` } }),
  );
}
