/** The class with the largest logit of a row. */
export function largest({ data, shape }, row) {
  const width = shape.at(-1);
  const logits = data.subarray(row * width, (row + 1) * width);
  return logits.indexOf(Math.max(...logits));
}
