// heed/expr: the operators of score and mask expressions. Importing it leaves for engines what compiles them.

import { compile } from "./compile.js";
import { COMPILER } from "./tree.js";

export * from "./operators.js";
export type {
  BinaryOp,
  Expr,
  ExprType,
  Leaf,
  MaskModArguments,
  ModTrees,
  Op,
  ProbModArguments,
  ScoreModArguments,
  TableData,
  UnaryOp,
} from "./tree.js";

Reflect.defineProperty(globalThis, COMPILER, { value: compile });
