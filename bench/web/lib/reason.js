// Why something failed, in one line.

const LONGEST = 120;

/** @param {unknown} error */
export function reasonOf(error) {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  // What Playwright and onnxruntime wrap around the reason.
  return line
    .replace(/^page\.evaluate: (?:Error: )?/, "")
    .replace(/^.*ERROR_MESSAGE: /, "")
    .replace(/^\S+:\d+ (?:static \w+ \S+::)?/, "")
    .slice(0, LONGEST);
}
