// Values that no function takes, which replace any part of good arguments.

/** What a hostile caller's code throws. */
class Thrown extends Error {}

/** Elements that a list of any length may be asked for before it is refused. */
const READ = 10_000;

const fail = (): never => {
  throw new Thrown("thrown by the caller");
};

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** A list that says it is long. It counts what is read of it, and calls `onMore` where that is a lot. */
function long(length: number, element: unknown, onMore: () => void): unknown[] {
  let left = READ;
  const read = (name: string | symbol): boolean => {
    const isElement = typeof name === "string" && /^\d+$/.test(name);
    if (isElement && --left < 0) {
      onMore();
      throw new Thrown("too much was read");
    }
    return isElement;
  };
  const get = (target: object, name: string | symbol): unknown => {
    if (name === "length") return length;
    return read(name) ? element : Reflect.get(target, name);
  };
  return new Proxy<unknown[]>([], { get, has: (target, name) => read(name) || Reflect.has(target, name) });
}

/** `onMore` is called where a long list is read beyond what it can be. */
function badValues(onMore: () => void): readonly (() => unknown)[] {
  return [
    () => undefined,
    () => null,
    () => -1,
    () => 1.5,
    () => Number.NaN,
    () => "",
    () => "toString",
    () => [],
    () => [null, Symbol("bad")],
    () => [revoked({})],
    () => [{ toString: fail, valueOf: fail, [Symbol.toPrimitive]: fail }],
    () => ({}),
    () => Symbol("bad"),
    () => 7n,
    () => fail,
    () => true,
    () => new Uint16Array(3),
    () => new Map([[1, 2]]),
    () => new Date(Number.NaN),
    () => Object.create(null),
    () => ({ toString: fail, valueOf: fail, [Symbol.toPrimitive]: fail }),
    () => ({ data: new Float32Array(1), shape: { length: 1 } }),
    () => Object.defineProperty({}, "data", { get: fail, enumerable: true }),
    () => new Proxy({}, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail }),
    () => new Proxy([], { get: fail }),
    () => new Proxy(fail, { apply: fail, get: fail }),
    () => revoked({}),
    () => revoked([]),
    () => revoked(fail),
    () => Object.defineProperty([1], 0, { get: fail }),
    () => Object.defineProperty(new AbortController().signal, "aborted", { get: fail }),
    () => Object.assign(Object.create({ removeEventListener: fail }), { aborted: false, addEventListener: fail }),
    ...[3e9, 2 ** 32 - 1].flatMap((length) =>
      [0, true, "a", undefined].map((element) => () => long(length, element, onMore)),
    ),
    () => ({ data: long(3e9, 1, onMore), shape: [3e9] }),
    () => ({ data: new Float32Array(2), shape: long(3e9, 1, onMore) }),
  ];
}

/** A part of arguments: the names that lead to it. */
type Path = readonly string[];

/** Every part of the arguments, however deep. An object without parts has one to put in. */
function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (!isPlain(value)) return;
  const names = Object.keys(value);
  if (names.length === 0) yield [...path, "0"];
  for (const name of names) yield* pathsOf(Reflect.get(value, name), [...path, name]);
}

/** Objects and arrays written out: their parts can be others. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}

/** One way to spoil arguments. */
export interface Spoiler {
  readonly spoil: (given: unknown[]) => void;
  /** Whether it replaces a function, by one whose own errors may be the caller's. */
  readonly isFunction: boolean;
}

/** Every part of the arguments, replaced by every bad value, or by a getter that throws. */
export function spoilers(given: readonly unknown[], onMore: () => void): Spoiler[] {
  const at = (all: object, path: Path): object =>
    path.slice(0, -1).reduce((holder, name) => Reflect.get(holder, name), all);
  return [...pathsOf(given)].flatMap((path) => {
    const name = path.at(-1) ?? "";
    const isFunction = typeof Reflect.get(at(given, path), name) === "function";
    const spoils = badValues(onMore).map((bad) => (all: unknown[]): void => {
      Reflect.set(at(all, path), name, bad());
    });
    if (path.length > 1) {
      spoils.push((all) => Object.defineProperty(at(all, path), name, { get: fail, enumerable: true }));
    }
    return spoils.map((spoil) => ({ spoil, isFunction }));
  });
}
