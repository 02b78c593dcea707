// Did-you-mean: names from elsewhere and misspellings, for messages about options that heed does not have.

/** Spellings of other libraries (PyTorch, JAX, FlashAttention, ONNX), in lower case without underscores. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  attnmask: "mask",
  attentionmask: "mask",
  keypaddingmask: "mask",
  attnbias: "bias",
  softmaxscale: "scale",
  windowsize: "window",
  localwindowsize: "window",
  slidingwindow: "window",
  logitcap: "softcap",
  numheads: "heads",
  qnumheads: "heads",
  numkvheads: "kvHeads",
  kvnumheads: "kvHeads",
  returnweights: "return",
  needweights: "return",
  returnlse: "return",
  returnattnprobs: "return",
  learnablesink: "sinks",
  headsink: "sinks",
  inputlayout: "layout",
  abortsignal: "signal",
  wasmurl: "wasm",
  wasmbinary: "wasm",
};

/** `, did you mean "causal"?`, or an empty string where nothing is near. */
export function didYouMean(given: string, names: readonly string[]): string {
  const plain = given.toLowerCase().replaceAll("_", "").slice(0, 40);
  const known = ELSEWHERE[plain];
  if (known !== undefined && names.includes(known)) return `, did you mean "${known}"?`;
  let best = "";
  let bestDistance = Math.max(2, Math.floor(plain.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(plain, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best === "" ? "" : `, did you mean "${best}"?`;
}

/** Levenshtein's distance: insertions, deletions and replacements that turn a into b. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replace, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
