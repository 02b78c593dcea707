// Symbol.dispose where the engine lacks it, and the finaliser that nets what was never disposed.
/// <reference lib="esnext.disposable" preserve="true" />

/** `Symbol.dispose`, or the registered stand-in that transpilers of `using` look up. Typed as the real one: at runtime it is what `using` calls. */
export const DISPOSE: typeof Symbol.dispose = disposeSymbol();

function disposeSymbol(): typeof Symbol.dispose {
  const native: typeof Symbol.dispose | undefined = Symbol.dispose;
  // The stand-in cannot have the well-known symbol's own type.
  return native ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);
}

let registry: FinalizationRegistry<() => void> | undefined;

/** Calls `cleanup` when `owner` is collected; `cleanup` must not refer to it. The net, not the plan. */
export function finalise(owner: WeakKey, cleanup: () => void): void {
  registry ??= new FinalizationRegistry((run) => run());
  registry.register(owner, cleanup, owner);
}

/** The owner was disposed as it should: its finaliser is not needed. */
export function unfinalise(owner: WeakKey): void {
  registry?.unregister(owner);
}
