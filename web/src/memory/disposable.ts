// Symbol.dispose, with a substitute where the runtime lacks it, and finalisers for objects that were never disposed of.
/// <reference lib="esnext.disposable" preserve="true" />

/** `Symbol.dispose`, or the registered symbol that transpiled `using` looks up in its place. */
export const DISPOSE: typeof Symbol.dispose = disposeSymbol();

function disposeSymbol(): typeof Symbol.dispose {
  const native: typeof Symbol.dispose | undefined = Symbol.dispose;
  // Transpiled `using` calls the substitute, although its type is not that of the well-known symbol.
  return native ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);
}

let registry: FinalizationRegistry<() => void> | undefined;

/** Calls `cleanup` when `owner` is collected; `cleanup` must not refer to it. A safety net for owners that are never disposed of. */
export function finalise(owner: WeakKey, cleanup: () => void): void {
  registry ??= new FinalizationRegistry((run) => run());
  registry.register(owner, cleanup, owner);
}

/** Called when the owner is disposed of, after which its finaliser must not run. */
export function unfinalise(owner: WeakKey): void {
  registry?.unregister(owner);
}
