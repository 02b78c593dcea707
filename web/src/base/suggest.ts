// Did you mean: the nearest option to a misspelling, or to a name of another library.

/** What other libraries (PyTorch, JAX, FlashAttention, ONNX) call options, where that does not contain heed's name: in lower case without underscores. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  softcap: "logitcap",
  kvHeads: "kvnumheads",
  return: "needweights",
  sinks: "learnablesink headsink",
};

/** `, did you mean "causal"?`, or an empty string where nothing is near. */
export function didYouMean(given: string, names: readonly string[], elsewhere = ELSEWHERE): string {
  const plain = given.toLowerCase().replaceAll("_", "").slice(0, 40);
  const known = names.find((name) => elsewhere[name]?.split(" ").includes(plain)) ?? longestWithin(plain, names);
  if (known !== "") return `, did you mean "${known}"?`;
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

/** The longest of the names that `plain` contains, as output_attentions contains attentions. */
function longestWithin(plain: string, names: readonly string[]): string {
  const within = names.filter((name) => name.length > 3 && plain.includes(name.toLowerCase()));
  return within.reduce((longest, name) => (name.length > longest.length ? name : longest), "");
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
