// Expressions as plain data: a tree (or a graph: nodes may be shared) of operators over a score and its indices. Made by
// operators.ts; compile.ts turns it into a program for the kernels, and other backends may turn it into whatever they run.

/** What a value is: a number in single precision, a whole number (exact up to 2^24 in size), or true or false. */
export type ExprType = "float" | "int" | "bool";

/** What an expression is about: a score or a weight, and its batch entry, query head, query and key, counted from 0 in the call. */
export type Leaf = "score" | "prob" | "b" | "h" | "q" | "k";

/** Operators by what they take. Whole numbers stay whole where all operands are; `not`, `and`, `or` take true or false. */
export type UnaryOp = "neg" | "abs" | "floor" | "sqrt" | "exp" | "log" | "tanh" | "not";
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

/** `const` has a value (true is 1), `at` a table and one index an axis, `select` a condition and what it chooses from. */
export type Op = Leaf | UnaryOp | BinaryOp | "const" | "at" | "select";

/** Numbers of the caller's, copied; true is 1. Indices beyond an axis read its first or last. */
export interface TableData {
  readonly data: Float32Array;
  readonly shape: readonly number[];
  readonly type: ExprType;
}

/** An expression: also what the functions of `scoreMod`, `maskMod` and `probMod` are given. */
export interface Expr {
  readonly type: ExprType;
  readonly op: Op;
  readonly args: readonly Expr[];
  readonly value?: number;
  readonly table?: TableData;
}

/** What `scoreMod` is given. */
export interface ScoreModArguments extends MaskModArguments {
  readonly score: Expr;
}

/** What `maskMod` is given. */
export interface MaskModArguments {
  readonly b: Expr;
  readonly h: Expr;
  readonly q: Expr;
  readonly k: Expr;
}

/** What `probMod` is given. */
export interface ProbModArguments extends MaskModArguments {
  readonly prob: Expr;
}

/** What the functions of a call's options gave, by option: nobody has looked at it yet. */
export interface ModTrees {
  scoreMod?: unknown;
  maskMod?: unknown;
  probMod?: unknown;
}

/**
 * What compiles expressions, for whoever computes: heed/expr leaves it under this name, since entries that are bundled apart have no
 * module in common. The number is that of the layout of programs.
 */
export const COMPILER = Symbol.for("heed.compile.1");
