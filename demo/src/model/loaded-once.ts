/** Loads what belongs to a name once; what could not be loaded is tried again the next time. */
export function loadedOnce<Name, Loaded>(load: (name: Name) => Promise<Loaded>): (name: Name) => Promise<Loaded> {
  const all = new Map<Name, Promise<Loaded>>();
  return (name) => {
    const one = all.get(name) ?? load(name);
    all.set(name, one);
    one.catch(() => all.delete(name));
    return one;
  };
}
