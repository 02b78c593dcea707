// HeedError: the one error type that leaves the package. A leaf: every room may throw it, it knows no other room.

/** What kind of thing went wrong; stable, so that programs can branch on it. */
export type HeedErrorCode =
  | "shape"
  | "dtype"
  | "option"
  | "memory"
  | "unsupported"
  | "aborted"
  | "device-lost"
  | "disposed"
  | "load";

/** Every failure of heed. The message names the function, the rule, and what arrived; after any of them the engine works on. */
export class HeedError extends Error {
  readonly code: HeedErrorCode;

  constructor(code: HeedErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Of the prototype, from where engines take it for the first line of a stack. */
  override get name(): string {
    return "HeedError";
  }
}

/** Text of anything that was thrown, for messages that quote a cause. Never throws, whatever it is given. */
export function causeText(cause: unknown): string {
  try {
    const text = cause instanceof Error ? String(cause.message) : String(cause);
    return text.length > 500 ? `${text.slice(0, 500)}...` : text;
  } catch {
    return "something without a text";
  }
}
