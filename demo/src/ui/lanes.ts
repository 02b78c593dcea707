// Which words stay in the line and which step out of it, so that words which change places do not run through each other.

type Lane = "line" | "above" | "below" | "unseen";

/** The lane of each word. The longest sequence of words that keep their order stays in the line; of two others that cross, one goes above and one below. */
export function lanesOf(before: readonly number[], after: readonly number[]): ReadonlyMap<number, Lane> {
  const places = new Map(before.map((word, place) => [word, place]));
  const from = after.map((word) => places.get(word) ?? 0);
  const lanes = new Map<number, Lane>(longestRun(from).map((to) => [after[to] ?? 0, "line"]));
  after.forEach((word, to) => {
    if (lanes.has(word)) return;
    const crossed = after.filter((_, other) => to < other !== (from[to] ?? 0) < (from[other] ?? 0));
    const taken = crossed.map((other) => lanes.get(other));
    lanes.set(word, (["above", "below"] as const).find((lane) => !taken.includes(lane)) ?? "unseen");
  });
  return lanes;
}

/** The indices of the longest ascending subsequence. */
function longestRun(numbers: readonly number[]): readonly number[] {
  const runs: (readonly number[])[] = [];
  numbers.forEach((number, place) => {
    const longest = runs
      .filter((run) => (numbers[run.at(-1) ?? 0] ?? 0) < number)
      .reduce((best: readonly number[], run) => (run.length > best.length ? run : best), []);
    runs.push([...longest, place]);
  });
  return runs.reduce((best, run) => (run.length > best.length ? run : best), []);
}
