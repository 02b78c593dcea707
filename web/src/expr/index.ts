// heed/expr: the operators of score and mask expressions.

export * from "./operators.js";
export type {
  BinaryOp,
  Expr,
  ExprType,
  Leaf,
  Learnt,
  LearntTable,
  MaskModArguments,
  ModTrees,
  Op,
  ProbModArguments,
  ScoreModArguments,
  TableData,
  UnaryOp,
} from "./tree.js";
