// Gradients of linear attention against central differences of the double-precision reference, by its rules, layouts and states.

import { afterAll, describe, expect, test } from "vitest";
import { createHeed, type Heed, type LinearVjpOptions } from "../../web/src/index.js";
import { linearAttention as reference } from "../../web/src/reference/index.js";
import list from "../cases/linear-rejects.json";
import { errorOf } from "../support/cases.js";
import { FEW_KINDS, openKind } from "../support/engines.js";
import { readFixture, unpack, unpackAll } from "../support/fixtures.js";
import { RULES } from "../support/linear.js";
import { Random } from "../support/random.js";
import { zeros } from "../support/tensors.js";

interface Plain {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

type Doubles = { readonly data: Float64Array; readonly shape: readonly number[] };

/** The arguments of a call, by their names among the gradients. */
interface Scene {
  readonly given: Readonly<Record<string, Plain>>;
  readonly options: Omit<LinearVjpOptions, "decay" | "beta" | "state" | "outputGradient" | "finalStateGradient">;
  readonly outputGradient: Plain;
  readonly finalStateGradient: Plain;
}

const LAYOUTS = ["bhnd", "bnhd", "packed"] as const;

interface Sizes {
  readonly rule: (typeof RULES)[number];
  readonly layout: (typeof LAYOUTS)[number];
  readonly length: number;
  readonly heads: number;
  readonly keyHeads: number;
  /** Heads of values and states. */
  readonly groups: number;
}

function drawScene(random: Random, { rule, layout, length, heads, keyHeads, groups }: Sizes): Scene {
  const [batch, dim, valueDim] = [random.pick([1, 2]), random.pick([1, 3, 8]), random.pick([1, 4, 5])];
  const draw = (...shape: number[]): Plain => ({ data: random.floats(shape.reduce((a, b) => a * b, 1)), shape });
  const of = (many: number, width: number): Plain => {
    if (layout === "packed") return draw(batch, length, many * width);
    return layout === "bhnd" ? draw(batch, many, length, width) : draw(batch, length, many, width);
  };
  const perToken = (many: number): Plain => {
    const tensor = of(many, 1);
    return layout === "packed" ? tensor : { ...tensor, shape: tensor.shape.slice(0, -1) };
  };
  const mapped = ({ data, shape }: Plain, by: (x: number) => number): Plain => ({ data: data.map(by), shape });
  const stateShape = [batch, groups, dim, valueDim + (rule === "elu" ? 1 : 0)];
  const given: Record<string, Plain> = {
    query: of(heads, dim),
    key: mapped(of(keyHeads, dim), (x) => x / Math.sqrt(dim)),
    value: of(groups, valueDim),
  };
  if (rule.startsWith("gated")) {
    given["decay"] = mapped(random.chance(0.5) ? of(groups, dim) : perToken(groups), (x) => -Math.abs(x));
  }
  if (rule.endsWith("delta") && random.chance(0.8)) {
    given["beta"] = mapped(perToken(random.pick([1, groups])), (x) => 1 / (1 + Math.exp(x)));
  }
  if (random.chance(0.6)) given["state"] = mapped(draw(...stateShape), rule === "elu" ? Math.abs : (x) => x);
  return {
    given,
    options: {
      rule,
      layout,
      ...(layout === "packed" ? { heads, kvHeads: groups } : {}),
      ...(rule === "elu" ? { causal: random.chance(0.5) } : { scale: 0.7 }),
    },
    outputGradient: of(Math.max(heads, groups), valueDim),
    finalStateGradient: draw(...stateShape),
  };
}

function lossOf(
  { options, outputGradient, finalStateGradient }: Scene,
  given: Readonly<Record<string, Doubles>>,
): number {
  const { query, key, value, ...rest } = given;
  if (query === undefined || key === undefined || value === undefined) throw new TypeError("three tensors");
  const { output, state } = reference(query, key, value, { ...options, ...rest });
  const weighed = (numbers: ArrayLike<number>, by: Float32Array) =>
    by.reduce((sum, x, at) => sum + x * (numbers[at] ?? Number.NaN), 0);
  return weighed(output.data, outputGradient.data) + weighed(state.data, finalStateGradient.data);
}

async function gradientsOf(engine: Heed, { given, options, ...gradients }: Scene) {
  const { query, key, value, ...rest } = given;
  const all = { ...options, ...rest, ...gradients, keep: false as const };
  const { initialState, ...made } = await engine.linearAttentionVjp(query as Plain, key as Plain, value as Plain, all);
  return { ...made, state: initialState } as Readonly<Record<string, Plain | undefined>>;
}

async function forward(engine: Heed, { given, options }: Scene): Promise<{ readonly state: Plain }> {
  const { query, key, value, ...rest } = given;
  return engine.linearAttention(query as Plain, key as Plain, value as Plain, { ...options, ...rest, keep: false });
}

/** Sums of at most 2 * 34 * 8 products, the largest of the gradient's own size: 600 roundings. */
const boundOf = (gradient: ArrayLike<number>): number =>
  600 * 2 ** -24 * Math.max(1, ...Array.from(gradient, Math.abs)) + 1e-7;

type Packed = Parameters<typeof unpackAll>[0];

/** tests/fixtures/linear.py. */
const torch = readFixture("linear.json") as unknown as {
  readonly given: Packed & { readonly ofOutput: Packed[string] };
  readonly cases: readonly (Readonly<Record<"state" | "ofState" | "newState", Packed[string]>> & {
    readonly options: { readonly rule: (typeof RULES)[number]; readonly causal?: boolean };
    readonly gradients: Packed;
  })[];
};

const STEP = 1e-3;

/** By a formula of the fourth order. */
function slope(loss: (shift: number) => number): number {
  return (8 * (loss(STEP) - loss(-STEP)) - (loss(2 * STEP) - loss(-2 * STEP))) / (12 * STEP);
}

describe.each(FEW_KINDS)("linearAttentionVjp, $variant, $worker worker", async (kind) => {
  const engine = await openKind(kind);
  afterAll(() => engine.dispose());

  test.each(RULES)("gradients are the slopes of the reference, for rule %s", async (rule) => {
    const random = new Random(990);
    for (let at = 0; at < 12; at++) {
      const length = random.pick([0, 1, 5, 33]);
      const layout = random.pick([...LAYOUTS]);
      const groups = random.pick([1, 2, 6]);
      const [heads, keyHeads] = [random.pick([1, groups, 3 * groups]), random.pick([1, groups, Math.ceil(groups / 2)])];
      const scene = drawScene(random, { rule, layout, length, heads, keyHeads, groups });
      const got = await gradientsOf(engine, scene);
      const wide = Object.fromEntries(
        Object.entries(scene.given).map(([name, { data, shape }]) => [name, { data: Float64Array.from(data), shape }]),
      );
      for (const name of ["query", "key", "value", "decay", "beta", "state"]) {
        const gradient = got[name];
        const what = `case ${at}, ${name}, length ${length}, ${JSON.stringify(scene.options)}`;
        expect(gradient?.shape, what).toEqual(scene.given[name]?.shape);
        const { data, shape } = scene.given[name] ?? { data: new Float32Array(), shape: [] };
        const bound = boundOf(gradient?.data ?? []);
        for (let i = 0; i < data.length; i += 1 + Math.floor(data.length / 6)) {
          // The slope of elu has a corner at 0.
          if (rule === "elu" && Math.abs(data[i] ?? 0) < 3 * STEP) continue;
          const wanted = slope((shift) => {
            const moved = Float64Array.from(data);
            moved[i] = (moved[i] ?? 0) + shift;
            return lossOf(scene, { ...wide, [name]: { data: moved, shape } });
          });
          const error = Math.abs((gradient?.data[i] ?? Number.NaN) - wanted);
          expect(error, `${what} at ${i}`).toBeLessThan(bound);
        }
      }
    }
  });

  test.each(torch.cases)("gradients are PyTorch's: $options", async ({ options, gradients, ...packed }) => {
    const shared = Object.entries(torch.given).filter(([name]) => name in gradients);
    const given = Object.fromEntries(unpackAll({ ...Object.fromEntries(shared), state: packed.state }));
    const scene = {
      given,
      options,
      outputGradient: unpack(torch.given.ofOutput),
      finalStateGradient: unpack(packed.ofState),
    };
    const got: Readonly<Record<string, Plain | undefined>> = {
      ...(await gradientsOf(engine, scene)),
      newState: (await forward(engine, scene)).state,
    };
    for (const [name, one] of Object.entries({ ...gradients, newState: packed.newState })) {
      const wanted = unpack(one);
      expect(got[name]?.shape, name).toEqual(wanted.shape);
      for (const [at, number] of wanted.data.entries()) {
        const error = Math.abs((got[name]?.data[at] ?? Number.NaN) - number);
        expect(error, `${name} at ${at}`).toBeLessThan(boundOf(wanted.data));
      }
    }
  });

  test("takes and keeps tensors", async () => {
    const random = new Random(991);
    const { given, options, outputGradient } = drawScene(random, {
      rule: "gated-delta",
      layout: "bhnd",
      length: 9,
      heads: 4,
      keyHeads: 2,
      groups: 2,
    });
    const own = (tensor: Plain | undefined) => engine.tensor(tensor?.data as Float32Array, tensor?.shape ?? []);
    const { query, key, value, decay } = given as Readonly<Record<string, Plain>>;
    const call = { ...options, decay: decay as Plain, outputGradient };
    const plain = await engine.linearAttentionVjp(query as Plain, key as Plain, value as Plain, {
      ...call,
      keep: false,
    });
    const [q, d, o] = [own(query), own(decay), own(outputGradient)];
    const same = { ...call, decay: d, outputGradient: o, keep: true } as const;
    const kept = await engine.linearAttentionVjp(q, key as Plain, value as Plain, same);
    for (const name of ["query", "key", "value", "decay"] as const) {
      expect(await kept[name]?.read()).toEqual(plain[name]?.data);
      expect(kept[name]?.shape).toEqual(plain[name]?.shape);
      kept[name]?.dispose();
    }
    expect(kept.beta).toBeUndefined();
    for (const tensor of [q, d, o]) tensor.dispose();
    expect(engine.memory().tensors).toBe(0);
  });
});

test.each([1, 2, 3, 4])("the bits of one thread come out of %s", async (threads) => {
  const scenes = RULES.map((rule) =>
    drawScene(new Random(992), { rule, layout: "bhnd", length: 200, heads: 2, keyHeads: 2, groups: 4 }),
  );
  const run = async (worker: "shared-memory" | "private-memory" | null, count: number) => {
    using engine = await openKind({ variant: "relaxed", worker }, { threads: count });
    return await Promise.all(scenes.map((scene) => gradientsOf(engine, scene)));
  };
  const expected = await run(null, 1);
  expect(await run("shared-memory", threads)).toEqual(expected);
  expect(await run("private-memory", Math.min(threads, 3))).toEqual(expected);
});

describe("refusals", async () => {
  const heed = await createHeed({ backend: "wasm" });
  afterAll(() => heed.dispose());

  const call = (options: object) =>
    errorOf(() => heed.linearAttentionVjp(zeros(5, 4), zeros(5, 4), zeros(5, 3), options as LinearVjpOptions));

  test("what linearAttention refuses is refused under this function's name", async () => {
    for (const { query, key, value, code, message, ...rest } of list.cases) {
      const options: Record<string, unknown> = { ...rest.options, outputGradient: zeros(1, 2, 5, 4) };
      if (options["scale"] === "NaN") options["scale"] = Number.NaN;
      for (const name of ["decay", "beta", "state"] as const) {
        if (rest[name] !== undefined) options[name] = zeros(...rest[name]);
      }
      const args = [zeros(...query), zeros(...key), zeros(...value), options];
      const error = await errorOf(() => Reflect.apply(heed.linearAttentionVjp, heed, args));
      expect(error, rest.name).toMatchObject({ name: "HeedError", code });
      expect(error.message).toContain(message);
      expect(error.message).toMatch(/^linearAttentionVjp: /);
    }
  });

  test("gradients of another shape", async () => {
    expect(await call({ rule: "linear" })).toMatchObject({
      name: "HeedError",
      message: expect.stringMatching(/^linearAttentionVjp: outputGradient must be/),
    });
    expect(await call({ rule: "linear", outputGradient: zeros(5, 4) })).toMatchObject({
      code: "shape",
      message: "linearAttentionVjp: outputGradient must have the output's shape, [5, 3], got [5, 4]",
    });
    const outputGradient = zeros(5, 3);
    expect(await call({ rule: "elu", outputGradient, finalStateGradient: zeros(4, 3) })).toMatchObject({
      code: "shape",
      message: "linearAttentionVjp: finalStateGradient must be [4, 4], got [4, 3]",
    });
    const causal = await heed.linearAttentionVjp(zeros(5, 4), zeros(5, 4), zeros(5, 3), {
      rule: "linear",
      outputGradient,
    });
    expect(causal.key.shape).toEqual([5, 4]);
  });
});
