// Import maps do not reach workers, so this one imports the file itself. A bundler takes "heed".

import { attention } from "./node_modules/heed/dist/index.js";

addEventListener("message", async ({ data: numbers }) => {
  // Where all keys are alike, a query attends to each number before it alike.
  const keys = { data: new Float32Array(numbers.length), shape: [numbers.length, 1] };
  const { output } = await attention(keys, keys, { data: numbers, shape: [numbers.length, 1] }, { causal: true });
  postMessage(output.data, [output.data.buffer]);
});
