// Random graphs of a pass's operations, each with its definition in double precision.

import type { Tensor } from "../../web/src/index.js";
import type { Pass } from "../../web/src/train/index.js";
import type { Random } from "./random.js";

type Shape = readonly number[];

/** Values of nodes so far, by node. */
type Values = Map<Node, Float64Array>;
type Tensors = Map<Node, Tensor>;

interface Node {
  readonly name: string;
  readonly shape: Shape;
  readonly value: (of: (node: Node) => Float64Array) => Float64Array;
  readonly run: (pass: Pass, of: (node: Node) => Tensor) => Promise<Tensor>;
}

export interface Graph {
  readonly names: readonly string[];
  readonly inputs: readonly { readonly data: Float32Array; readonly shape: Shape }[];
  /** The loss in double precision. */
  value(inputs: readonly Float64Array[]): number;
  loss(pass: Pass, inputs: readonly Tensor[]): Promise<Tensor>;
}

const count = (shape: Shape): number => shape.reduce((total, size) => total * size, 1);

/** The indices of a place. */
function indicesOf(place: number, shape: Shape): number[] {
  const indices: number[] = [];
  let rest = place;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis] ?? 1;
    indices[axis] = rest % size;
    rest = Math.floor(rest / size);
  }
  return indices;
}

/** The place of indices in a tensor, which may have fewer axes, and axes of size 1. */
function placeOf(indices: readonly number[], shape: Shape): number {
  const skipped = indices.length - shape.length;
  return shape.reduce((place, size, axis) => place * size + (size === 1 ? 0 : (indices[axis + skipped] ?? 0)), 0);
}

const filled = (shape: Shape, at: (indices: number[], place: number) => number): Float64Array =>
  Float64Array.from({ length: count(shape) }, (_, place) => at(indicesOf(place, shape), place));

const number = (values: Float64Array, at: number): number => values[at] ?? Number.NaN;

/** As docs/semantics/attention.md has it, for query 0. */
export function keeps(seed: number, key: number, p: number): boolean {
  const mix = (given: number): number => {
    let x = given >>> 0;
    x = Math.imul(x ^ (x >>> 16), 0x7feb352d) >>> 0;
    x = Math.imul(x ^ (x >>> 15), 0x846ca68b) >>> 0;
    return (x ^ (x >>> 16)) >>> 0;
  };
  const stream = mix(mix((seed + 0x9e3779b9) >>> 0) >>> 0);
  return mix((stream ^ Math.imul(key, 0x9e3779b9)) >>> 0) >= Math.floor(Math.fround(p) * 2 ** 32);
}

const UNARY = {
  exp: Math.exp,
  log: Math.log,
  sqrt: Math.sqrt,
  tanh: Math.tanh,
  sigmoid: (x: number) => 1 / (1 + Math.exp(-x)),
  relu: (x: number) => Math.max(0, x),
} as const;

const BINARY = {
  add: (a: number, b: number) => a + b,
  sub: (a: number, b: number) => a - b,
  mul: (a: number, b: number) => a * b,
  div: (a: number, b: number) => a / b,
} as const;

/** A graph of so many operations. */
export function randomGraph(random: Random, operations: number): Graph {
  const inputs: Node[] = [];
  const data: Float32Array[] = [];
  const nodes: Node[] = [];
  const input = (shape: Shape): Node => {
    const at = inputs.length;
    data.push(random.floats(count(shape)));
    const absent = (): never => {
      throw new Error(`input ${at} is given`);
    };
    const node = { name: `input ${shape.join("x")}`, shape, value: absent, run: absent };
    inputs.push(node);
    return node;
  };
  /** A node that another one is made of. */
  const kept = (node: Node): Node => {
    nodes.push(node);
    return node;
  };
  const any = (): Node =>
    nodes.length > 0 && random.chance(0.75) ? random.pick(nodes as [Node, ...Node[]]) : input(shapeOf(random));
  const unary = (name: keyof typeof UNARY, x: Node): Node => ({
    name,
    shape: x.shape,
    value: (of) => of(x).map(UNARY[name]),
    run: (pass, of) => pass[name](of(x)),
  });
  const binary = (name: keyof typeof BINARY, a: Node, b: Node): Node => {
    const rank = Math.max(a.shape.length, b.shape.length);
    const sizeOf = ({ shape }: Node, axis: number): number => shape[axis - rank + shape.length] ?? 1;
    const shape = Array.from({ length: rank }, (_, axis) => Math.max(sizeOf(a, axis), sizeOf(b, axis)));
    return {
      name,
      shape,
      value: (of) => {
        const [x, y] = [of(a), of(b)];
        return filled(shape, (at) => BINARY[name](number(x, placeOf(at, a.shape)), number(y, placeOf(at, b.shape))));
      },
      run: (pass, of) => pass[name](of(a), of(b)),
    };
  };
  /** A node that broadcasts with x. */
  const partner = (x: Node): Node => {
    const drop = random.whole(0, x.shape.length);
    return input(x.shape.slice(drop).map((size) => (random.chance(0.3) ? 1 : size)));
  };
  /** x^2 + 1, of which there are logarithms, roots and quotients. */
  const positive = (x: Node): Node => {
    const square = kept(binary("mul", x, x));
    return kept({
      name: "plus 1",
      shape: square.shape,
      value: (of) => of(square).map((value) => value + 1),
      run: (pass, of) => pass.add(1, of(square)),
    });
  };
  const reduce = (name: "sum" | "mean" | "max", x: Node): Node => {
    const axes = x.shape.map((_, axis) => axis).filter(() => random.chance(0.5));
    const keepDims = random.chance(0.5);
    const isAll = axes.length === 0;
    const gone = (axis: number): boolean => isAll || axes.includes(axis);
    const shape = x.shape.flatMap((size, axis) => (gone(axis) ? (keepDims ? [1] : []) : [size]));
    const kept = x.shape.map((size, axis) => (gone(axis) ? 1 : size));
    return {
      name,
      shape,
      value: (of) => {
        const values = of(x);
        const all: number[][] = Array.from({ length: count(kept) }, () => []);
        for (const [place, value] of values.entries()) all[placeOf(indicesOf(place, x.shape), kept)]?.push(value);
        return Float64Array.from(all, (some) => {
          if (name === "max") return Math.max(...some);
          const sum = some.reduce((total, value) => total + value, 0);
          return name === "sum" ? sum : sum / some.length;
        });
      },
      run: (pass, of) => pass[name](of(x), { keepDims, ...(!isAll && { axis: axes }) }),
    };
  };
  const byAxis = (name: "softmax" | "normalize", x: Node): Node => {
    const axis = random.whole(0, x.shape.length - 1);
    const isNegative = random.chance(0.5);
    const kept = x.shape.map((size, one) => (one === axis ? 1 : size));
    return {
      name,
      shape: x.shape,
      value: (of) => {
        const values = of(x);
        const powers = name === "softmax" ? values.map(Math.exp) : values.map((value) => value * value);
        const sums = new Float64Array(count(kept));
        const placeIn = (place: number): number => placeOf(indicesOf(place, x.shape), kept);
        for (const [place, power] of powers.entries()) sums[placeIn(place)] = number(sums, placeIn(place)) + power;
        if (name === "softmax") return powers.map((power, place) => power / number(sums, placeIn(place)));
        return values.map((value, place) => value / Math.sqrt(number(sums, placeIn(place))));
      },
      run: (pass, of) => pass[name](of(x), { axis: isNegative ? axis - x.shape.length : axis }),
    };
  };
  const matmul = (x: Node): Node => {
    const [transposeA, transposeB] = [random.chance(0.4), random.chance(0.4)];
    const wide =
      x.shape.length < 2 ? binary("add", x, input([random.whole(1, 3), ...(x.shape.length === 0 ? [2] : [1])])) : x;
    if (wide !== x) nodes.push(wide);
    const leading = wide.shape.slice(0, -2);
    const [p = 1, q = 1] = wide.shape.slice(-2);
    const [rows, depth] = transposeA ? [q, p] : [p, q];
    const columns = random.whole(1, 4);
    const batch = leading.slice(random.whole(0, leading.length)).map((size) => (random.chance(0.3) ? 1 : size));
    const extra = random.chance(0.2) && batch.length === leading.length ? [2] : [];
    const b = input([...extra, ...batch, ...(transposeB ? [columns, depth] : [depth, columns])]);
    const ofB = b.shape.slice(0, -2);
    const shape = [...extra, ...leading, rows, columns];
    return {
      name: `matmul${transposeA ? " A^T" : ""}${transposeB ? " B^T" : ""}`,
      shape,
      value: (of) => {
        const [left, right] = [of(wide), of(b)];
        return filled(shape, (at) => {
          const [i = 0, j = 0] = at.slice(-2);
          const [first, second] = [placeOf(at.slice(0, -2), leading), placeOf(at.slice(0, -2), ofB)];
          let sum = 0;
          for (let k = 0; k < depth; k++) {
            const inA = transposeA ? k * rows + i : i * depth + k;
            const inB = transposeB ? j * depth + k : k * columns + j;
            sum += number(left, first * rows * depth + inA) * number(right, second * depth * columns + inB);
          }
          return sum;
        });
      },
      run: (pass, of) => pass.matmul(of(wide), of(b), { transposeA, transposeB }),
    };
  };
  const shaped = (x: Node): Node => {
    const kind = random.pick(["reshape", "transpose", "slice", "concat", "gather", "where", "dropout"] as const);
    const rank = x.shape.length;
    if (kind === "reshape") {
      const shape = random.chance(0.5) ? [count(x.shape)] : [...x.shape, 1].reverse();
      return { name: kind, shape, value: (of) => of(x), run: (pass, of) => pass.reshape(of(x), shape) };
    }
    if (kind === "dropout") {
      const [p, seed] = [0.3, random.whole(0, 2 ** 32 - 1)];
      const factor = 1 / (1 - Math.fround(p));
      return {
        name: kind,
        shape: x.shape,
        value: (of) => of(x).map((value, key) => (keeps(seed, key, p) ? value * factor : 0)),
        run: (pass, of) => pass.dropout(of(x), { p, seed }),
      };
    }
    if (kind === "where") {
      const [data, other] = [random.bits(count(x.shape), 0.5), partner(x)];
      return {
        name: kind,
        shape: x.shape,
        value: (of) => {
          const [yes, no] = [of(x), of(other)];
          return filled(x.shape, (at, place) =>
            number(data[place] ? yes : no, data[place] ? place : placeOf(at, other.shape)),
          );
        },
        run: (pass, of) => pass.where({ data, shape: x.shape }, of(x), of(other)),
      };
    }
    if (rank === 0) return unary("tanh", x);
    const axis = random.whole(0, rank - 1);
    const size = x.shape[axis] ?? 1;
    const sized = (own: number): Shape => x.shape.map((one, at) => (at === axis ? own : one));
    if (kind === "transpose") {
      const axes = [...x.shape.keys()].sort(() => random.next() - 0.5);
      const shape = axes.map((one) => x.shape[one] ?? 1);
      return {
        name: kind,
        shape,
        value: (of) => {
          const values = of(x);
          return filled(shape, (at) =>
            number(
              values,
              placeOf(
                x.shape.map((_, one) => at[axes.indexOf(one)] ?? 0),
                x.shape,
              ),
            ),
          );
        },
        run: (pass, of) => pass.transpose(of(x), axes),
      };
    }
    if (kind === "slice") {
      const from = random.whole(0, size - 1);
      const to = random.whole(from + 1, size);
      const shape = sized(to - from);
      return {
        name: kind,
        shape,
        value: (of) => {
          const values = of(x);
          return filled(shape, (at) =>
            number(
              values,
              placeOf(
                at.map((one, on) => (on === axis ? one + from : one)),
                x.shape,
              ),
            ),
          );
        },
        run: (pass, of) => pass.slice(of(x), { axis, from, to }),
      };
    }
    if (kind === "gather") {
      const indices = Array.from({ length: random.whole(1, 4) }, () => random.whole(0, size - 1));
      const shape = sized(indices.length);
      return {
        name: kind,
        shape,
        value: (of) => {
          const values = of(x);
          return filled(shape, (at) =>
            number(
              values,
              placeOf(
                at.map((one, on) => (on === axis ? (indices[one] ?? 0) : one)),
                x.shape,
              ),
            ),
          );
        },
        run: (pass, of) => pass.gather(of(x), indices, { axis }),
      };
    }
    const others = Array.from({ length: random.whole(1, 5) }, () =>
      random.chance(0.3) ? x : input(sized(random.whole(1, 3))),
    );
    const all = [x, ...others];
    const shape = sized(all.reduce((sum, one) => sum + (one.shape[axis] ?? 0), 0));
    return {
      name: kind,
      shape,
      value: (of) =>
        filled(shape, (at) => {
          let place = at[axis] ?? 0;
          for (const one of all) {
            const own = one.shape[axis] ?? 0;
            if (place < own)
              return number(
                of(one),
                placeOf(
                  at.map((index, on) => (on === axis ? place : index)),
                  one.shape,
                ),
              );
            place -= own;
          }
          return Number.NaN;
        }),
      run: (pass, of) => pass.concat(all.map(of), { axis }),
    };
  };
  const draw = (): Node => {
    const x = any();
    const kind = random.whole(0, 9);
    if (kind <= 1) return binary(random.pick(["add", "sub", "mul"]), x, partner(x));
    if (kind === 2) return binary("div", x, positive(x));
    if (kind === 3) return unary(random.pick(["log", "sqrt"]), positive(x));
    // Exponentials of what is bounded stay small.
    if (kind === 4) return unary("exp", kept(unary("tanh", x)));
    if (kind === 5) return unary(random.pick(["tanh", "sigmoid", "relu"]), x);
    if (kind === 6) return reduce(random.pick(["sum", "mean", "max"]), x);
    if (kind === 7 && x.shape.length > 0) return byAxis(random.pick(["softmax", "normalize"]), x);
    if (kind === 8) return matmul(x);
    return shaped(x);
  };
  for (let operation = 0; operation < operations; operation++) nodes.push(draw());
  const ends = nodes.slice(-2);
  const weights = ends.map(({ shape }) => ({ data: random.floats(count(shape)), shape }));

  const evaluate = (values: Values): ((node: Node) => Float64Array) => {
    const of = (node: Node): Float64Array => {
      const known = values.get(node) ?? node.value(of);
      values.set(node, known);
      return known;
    };
    return of;
  };
  return {
    names: nodes.map(({ name }) => name),
    inputs: inputs.map(({ shape }, at) => ({ data: data[at] ?? new Float32Array(), shape })),
    value: (given) => {
      const of = evaluate(new Map(inputs.map((node, at) => [node, given[at] ?? new Float64Array()])));
      return ends.reduce((total, node, at) => {
        return total + of(node).reduce((sum, value, place) => sum + value * (weights[at]?.data[place] ?? 0), 0);
      }, 0);
    },
    loss: async (pass, given) => {
      const tensors: Tensors = new Map(inputs.map((node, at) => [node, given[at] as Tensor]));
      const of = (node: Node): Tensor => tensors.get(node) as Tensor;
      for (const node of nodes) tensors.set(node, await node.run(pass, of));
      const [first, second] = ends.map((node, at) => pass.sum(pass.mul(of(node), weights[at] ?? 0)));
      return second === undefined ? pass.add(first ?? 0, 0) : pass.add(first ?? 0, second);
    },
  };
}

function shapeOf(random: Random): Shape {
  return Array.from({ length: random.whole(1, 3) }, () => random.whole(1, 4));
}
