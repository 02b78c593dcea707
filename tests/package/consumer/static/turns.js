// How often the page has a turn during one call that takes long.
import { leave } from "./compute.js";

async function outcome() {
  const { createHeed } = await import("/heed/index.js");
  const heed = await createHeed();
  // Two billion multiplications and additions: some hundred milliseconds, were it one piece.
  const x = { data: new Float32Array(8 * 1024 * 64), shape: [8, 1024, 64] };
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  });
  await heed.attention(x, x, x);
  clearInterval(timer);
  return { turns, worker: heed.capabilities.worker };
}

leave(outcome());
