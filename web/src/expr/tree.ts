// Expressions as plain data: a tree of operators over a score and its indices, or a graph, because nodes may be shared. operators.ts makes
// it, compile.ts compiles it to a program for the kernels, and other backends may compile it to something else.

/** The type of a value: an f32 number, a whole number between -2^24 and 2^24, or a boolean. */
export type ExprType = "float" | "int" | "bool";

/** The inputs of an expression: a score or a weight, and its batch entry, query head, query and key, counted from 0 in the call. */
export type Leaf = "score" | "prob" | "b" | "h" | "q" | "k";

/** The result is whole where all operands are whole. `not`, `and` and `or` take booleans. */
export type UnaryOp = "neg" | "abs" | "floor" | "sqrt" | "exp" | "log" | "tanh" | "not";
/** The operators of two arguments. */
export type BinaryOp =
  | "add"
  | "sub"
  | "mul"
  | "div"
  | "floorDiv"
  | "mod"
  | "min"
  | "max"
  | "less"
  | "lessEqual"
  | "equal"
  | "notEqual"
  | "and"
  | "or";

/** `const` has a value (true is 1), `at` has a table and one index for each axis, `select` a condition and two choices. */
export type Op = Leaf | UnaryOp | BinaryOp | "const" | "at" | "select";

/** A copy of the caller's numbers; true is 1. An index beyond an axis reads its first or last number. */
export interface TableData {
  readonly data: Float32Array;
  readonly shape: readonly number[];
  readonly type: ExprType;
}

/** A parameter of a layer or a tensor, whose numbers `pass.attention` of heed/train reads when it runs. */
export interface Learnt {
  readonly shape: readonly number[];
}

/** A table of what learns. A call that does not read its numbers first refuses it. */
export interface LearntTable extends Omit<TableData, "data"> {
  readonly of: Learnt;
}

/** An expression. The arguments of the functions `scoreMod`, `maskMod` and `probMod` are expressions too. */
export interface Expr {
  readonly type: ExprType;
  readonly op: Op;
  readonly args: readonly Expr[];
  readonly value?: number;
  readonly table?: TableData;
}

/** The arguments of `scoreMod`. */
export interface ScoreModArguments extends MaskModArguments {
  readonly score: Expr;
}

/** The arguments of `maskMod`. */
export interface MaskModArguments {
  readonly b: Expr;
  readonly h: Expr;
  readonly q: Expr;
  readonly k: Expr;
}

/** The arguments of `probMod`. */
export interface ProbModArguments extends MaskModArguments {
  readonly prob: Expr;
}

/** The unchecked results of the functions among a call's options. */
export interface ModTrees {
  scoreMod?: unknown;
  maskMod?: unknown;
  probMod?: unknown;
}

/**
 * The global name under which heed/expr registers its compiler for the engine, because the two are bundled apart and share no module. The
 * number is the version of the programs' layout and of what is registered.
 */
export const COMPILER = Symbol.for("heed.compile.2");
