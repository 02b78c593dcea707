// Values that no function takes, which replace any part of good arguments.

import type { Random } from "./random.js";

/** What a hostile caller's code throws. */
class Thrown extends Error {}

const fail = (): never => {
  throw new Thrown("thrown by the caller");
};

const BAD: readonly [() => unknown, ...(() => unknown)[]] = [
  () => undefined,
  () => null,
  () => -1,
  () => 1.5,
  () => Number.NaN,
  () => "",
  () => "toString",
  () => [],
  () => [null, Symbol("bad")],
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
  () => Object.defineProperty(new AbortController().signal, "aborted", { get: fail }),
  () => Object.assign(Object.create({ removeEventListener: fail }), { aborted: false, addEventListener: fail }),
];

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Replaces some part of the arguments, however deep, by a bad value or a getter that throws. */
export function spoil(given: unknown[], random: Random): void {
  const holders: object[] = [];
  const collect = (value: unknown): void => {
    if (!isPlain(value) || holders.includes(value)) return;
    holders.push(value);
    for (const part of Object.values(value)) collect(part);
  };
  collect(given);
  const holder = random.pick([given, ...holders]);
  const names = Object.keys(holder);
  const name = names.length === 0 ? "0" : random.pick([names[0] ?? "0", ...names]);
  if (holder !== given && random.chance(0.2)) Object.defineProperty(holder, name, { get: fail, enumerable: true });
  else Reflect.set(holder, name, random.pick(BAD)());
}

/** Objects and arrays written out: their parts can be others. */
function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
