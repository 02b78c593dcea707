// What is kept on this device under a name. Storage may be forbidden: then nothing is kept, and nothing found.

export function kept(storage: () => Storage, key: string): string {
  try {
    return storage().getItem(key) ?? "";
  } catch {
    return "";
  }
}

export function keep(storage: () => Storage, key: string, value: string): void {
  try {
    storage().setItem(key, value);
  } catch {
    // Nothing to do.
  }
}
