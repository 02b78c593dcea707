// Ends a text before the first of some strings, which may come in several pieces.

export class StopStrings {
  readonly #stops: readonly string[];
  /** What may be the beginning of one of them. */
  #held = "";
  #isFound = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  get isFound(): boolean {
    return this.#isFound;
  }

  /** The text that is surely before all of them. */
  push(piece: string): string {
    const text = this.#held + piece;
    const places = this.#stops.map((stop) => text.indexOf(stop)).filter((place) => place !== -1);
    if (places.length > 0) {
      this.#isFound = true;
      this.#held = "";
      return text.slice(0, Math.min(...places));
    }
    const kept = Math.max(0, ...this.#stops.map((stop) => beginningAtEnd(text, stop)));
    this.#held = text.slice(text.length - kept);
    return text.slice(0, text.length - kept);
  }

  /** What was held back, where nothing more comes. */
  flush(): string {
    const rest = this.#held;
    this.#held = "";
    return rest;
  }
}

/** The length of the longest beginning of `stop` with which a text ends. */
function beginningAtEnd(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}
