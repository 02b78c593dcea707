// HeedError, the one type of error that leaves the package. Every room may throw it, and this file imports nothing.

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

  /** A getter of the prototype, because engines print a stack with the name that they find there. */
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
