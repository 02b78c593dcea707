// Lets bundlers drop what a page does not use: they keep every statement that might do something.

import { parseAst } from "vite";

/** What does nothing when it is evaluated, if its parts do nothing. */
const PLAIN = new Set([
  "ArrayExpression",
  "ClassBody",
  "ClassExpression",
  "Identifier",
  "Literal",
  "MethodDefinition",
  "ObjectExpression",
  "PrivateIdentifier",
  "Property",
  "PropertyDefinition",
  "UnaryExpression",
]);

const PURE = "/*@__PURE__*/";

/**
 * Marks the values of a module's variables as pure, where bundlers would not see it. web/src does nothing while it is imported: package.json
 * says so of whole files, for bundlers that use no name of them.
 * @type {import("vite").Plugin}
 */
export const pureStatements = {
  name: "heed-pure-statements",
  generateBundle(_options, output) {
    for (const file of Object.values(output)) {
      if (file.type === "chunk") file.code = marked(file.code);
    }
  },
};

/** @param {string} code */
function marked(code) {
  let text = "";
  let from = 0;
  for (const statement of parseAst(code).body) {
    if (statement.type !== "VariableDeclaration") continue;
    for (const { init } of statement.declarations) {
      if (init === null || isPlain(init)) continue;
      const { start, end, type } = init;
      const value = code.slice(start, end);
      const number = numberOf(init);
      text += code.slice(from, start);
      if (number !== null) text += number;
      else
        text += PURE + (isSimpleCall(init) ? value : `(()=>${type === "ObjectExpression" ? `(${value})` : value})()`);
      from = end;
    }
  }
  return text + code.slice(from);
}

/** Bundlers drop a marked call whose arguments do nothing. @param {Node} node */
const isSimpleCall = ({ type, callee, arguments: given }) =>
  (type === "CallExpression" || type === "NewExpression") &&
  isPlain(callee.type === "MemberExpression" ? callee.object : callee) &&
  given.every(isPlain);

/** @param {unknown} node @returns {boolean} */
function isPlain(node) {
  if (!isNode(node)) return true;
  const { type } = node;
  if (type === "FunctionExpression" || type === "ArrowFunctionExpression") return true;
  if (type === "TemplateLiteral") return node.expressions.length === 0;
  if (!PLAIN.has(type) || node.computed) return false;
  // The fields of objects that a class makes are evaluated when it makes one.
  if (type === "PropertyDefinition" && !node.static) return true;
  return Object.values(node).every((part) => (Array.isArray(part) ? part.every(isPlain) : isPlain(part)));
}

const ARITHMETIC = {
  "+": (/** @type {number} */ a, /** @type {number} */ b) => a + b,
  "-": (/** @type {number} */ a, /** @type {number} */ b) => a - b,
  "*": (/** @type {number} */ a, /** @type {number} */ b) => a * b,
  "/": (/** @type {number} */ a, /** @type {number} */ b) => a / b,
  "**": (/** @type {number} */ a, /** @type {number} */ b) => a ** b,
};

/** What arithmetic on numbers gives, which esbuild keeps although nothing reads it; null where it is none. @param {Node} node @returns {number | null} */
function numberOf(node) {
  if (node.type === "Literal") return typeof node.value === "number" ? node.value : null;
  if (node.type !== "BinaryExpression") return null;
  const [left, right] = [numberOf(node.left), numberOf(node.right)];
  const act = ARITHMETIC[/** @type {keyof typeof ARITHMETIC} */ (node.operator)];
  return left === null || right === null || act === undefined ? null : act(left, right);
}

/** @typedef {Record<string, any> & { type: string }} Node */

/** @param {unknown} value @returns {value is Node} */
const isNode = (value) => typeof value === "object" && value !== null && "type" in value;
