// Formulas in MathML, which browsers typeset themselves.

const SPACE = "http://www.w3.org/1998/Math/MathML";

type Part = string | Element;

function element(tag: string, ...parts: readonly Part[]): Element {
  const made = document.createElementNS(SPACE, tag);
  made.append(...parts);
  return made;
}

/** A letter alone is a variable, digits a number, anything else an operator. */
function leaf(text: string): Element {
  if (/^\p{L}$/u.test(text)) return element("mi", text);
  return element(/^(?:[\d.]+|−∞)$/.test(text) ? "mn" : "mo", text);
}

/** What stands between blanks, with its index: "a_i = b_ij". */
function atoms(part: Part): Element[] {
  if (typeof part !== "string") return [part];
  return part.split(" ").map((one) => {
    const [base = "", index = ""] = one.split("_");
    return index === "" ? leaf(base) : sub(leaf(base), row(...index));
  });
}

const atom = (part: Part): Element => {
  const [first, ...more] = atoms(part);
  return first === undefined || more.length > 0 ? row(part) : first;
};

export const row = (...parts: readonly Part[]): Element => element("mrow", ...parts.flatMap(atoms));
export const sub = (base: Part, below: Part): Element => element("msub", atom(base), atom(below));
export const sup = (base: Part, above: Part): Element => element("msup", atom(base), atom(above));
export const fraction = (over: Part, under: Part): Element => element("mfrac", atom(over), atom(under));
export const root = (inside: Part): Element => element("msqrt", atom(inside));
export const under = (base: Part, below: Part): Element => element("munder", atom(base), atom(below));
/** Upright words; MathML drops blanks at the ends, so they become hard ones. */
export const plain = (text: string): Element => element("mtext", text.replaceAll(" ", "\u00a0"));

export function formula(...parts: readonly Part[]): Element {
  const math = element("math", row(...parts));
  math.setAttribute("display", "block");
  return math;
}
