// Composes a shader from WGSL files. What they leave open are `override`s, which get their values here; functions that another file or a program
// of an expression defines; and buffers, which bindings() declares.

/** Values of the overrides, by their names. */
export type Constants = Readonly<Record<string, number | boolean>>;

const COMMENT = / *\/\/(?! unroll$).*\n/gm;
const OVERRIDE = /^override (\w+): (\w+);\n/gm;

/** A block ends at the first brace as deep as its beginning. */
const BRANCH = /^( *)if \((!?)(\w+)\) \{\n([\s\S]*?)^\1\}(?: else \{\n([\s\S]*?)^\1\})?\n/gm;
const LOOP = /^( *)for \(var (\w+) = 0u; \2 < (\w+); \2\+\+\) \{ \/\/ unroll\n([\s\S]*?)^\1\}\n/gm;

/**
 * Overrides become constants, because the sizes of arrays in functions may depend on no override. An `if` of a boolean constant keeps the branch
 * that it takes, so that a shader names only the buffers that its call has. A loop marked `// unroll` is written out: in arrays
 * with constant indices numbers stay in registers.
 */
export function compose(files: readonly string[], constants: Constants): string {
  const declared = new Set<string>();
  const text = files
    .join("\n")
    .replace(COMMENT, "\n")
    .replace(OVERRIDE, (_, name: string, type: string) => {
      if (declared.has(name)) return "";
      declared.add(name);
      if (constants[name] === undefined) throw new TypeError(`a shader's ${name} has no value`);
      return `const ${name}: ${type} = ${constants[name]};\n`;
    });
  const code = unrolled(pruned(text, constants), constants);
  refuseHoles(code);
  return code;
}

/** The file with another operand's name in place of x. */
export function renamed(file: string, name: string): string {
  return file.replace(/_x\b|_X\b|\bx_/g, (x) => x.replace("x", name).replace("X", name.toUpperCase()));
}

function pruned(text: string, constants: Constants): string {
  return text.replace(
    BRANCH,
    (whole: string, indent: string, not: string, name: string, first: string, second = "") => {
      const value = constants[name];
      if (typeof value !== "boolean") return whole.replace(/\n[\s\S]*\n/, (body) => pruned(body, constants));
      const taken = value === (not === "") ? first : second;
      return taken === "" ? "" : `${indent}{\n${pruned(taken, constants)}${indent}}\n`;
    },
  );
}

function unrolled(text: string, constants: Constants): string {
  return text.replace(LOOP, (_, indent: string, index: string, bound: string, body: string) => {
    const copy = (n: number): string =>
      `${indent}{\n${body.replace(new RegExp(`\\b${index}\\b`, "g"), `${n}u`)}${indent}}\n`;
    const count = constants[bound] ?? Number.parseInt(bound, 10);
    if (typeof count !== "number" || Number.isNaN(count)) throw new TypeError(`a shader repeats a loop ${bound} times`);
    return unrolled(Array.from({ length: count }, (_, n) => copy(n)).join(""), constants);
  });
}

/** Names of constants are capitals, and those of functions have an underscore, which WGSL's own have not. */
function refuseHoles(code: string): void {
  for (const [used, defined] of [
    [/\b([A-Z][A-Z_]+)\b/g, /\bconst (\w+)/g],
    [/(?<!@)\b(\w+_\w+)\(/g, /\bfn (\w+)/g],
  ] as const) {
    const known = new Set(Array.from(code.matchAll(defined), ([, name]) => name));
    for (const [, name] of code.matchAll(used)) {
      if (!known.has(name)) throw new TypeError(`a shader uses ${name}, which none of its files defines`);
    }
  }
}
