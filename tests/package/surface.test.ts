// What the package promises: every public name of every entry, with its type, as recorded in surface/. A change of the record is a change of the
// version: a name that goes or changes its meaning asks for a new major version (before 1.0 a minor one), a name that comes for a new minor one.
// `npx vitest run --project package tests/package/surface.test.ts -u` records it.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { exports }: { exports: Record<string, string | { types: string }> } = JSON.parse(
  readFileSync(`${root}package.json`, "utf8"),
);
// One entry of those that share their declarations.
const entries = Object.entries(exports)
  .flatMap(([entry, target]) => (typeof target === "string" ? [] : [{ entry, file: `${root}${target.types}` }]))
  .filter(({ file }, at, all) => all.findIndex((other) => other.file === file) === at);
const program = ts.createProgram(
  entries.map(({ file }) => file),
  {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    types: [],
  },
);
const checker = program.getTypeChecker();
const FLAGS = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;

const typeOf = (type: ts.Type): string => checker.typeToString(type, undefined, FLAGS);

function linesOf(shown: ts.Symbol): readonly string[] {
  const symbol = shown.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(shown) : shown;
  const { name } = shown;
  if (symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface)) {
    const isClass = (symbol.flags & ts.SymbolFlags.Class) !== 0;
    const made = checker.getTypeOfSymbol(symbol);
    const statics = isClass ? membersOf(made).filter((line) => !line.startsWith("prototype:")) : [];
    const constructors = isClass ? made.getConstructSignatures() : [];
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const bases = type.getBaseTypes()?.map(typeOf) ?? [];
    return [
      `${isClass ? "class" : "interface"} ${name}${bases.length === 0 ? "" : ` extends ${bases.join(", ")}`}`,
      ...constructors.map((one) => `  new ${checker.signatureToString(one, undefined, FLAGS)}`),
      ...type.getCallSignatures().map((one) => `  ${checker.signatureToString(one, undefined, FLAGS)}`),
      ...statics.map((line) => `  static ${line}`),
      ...membersOf(type).map((line) => `  ${line}`),
    ];
  }
  if (symbol.flags & ts.SymbolFlags.TypeAlias) {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    return [`type ${name} = ${checker.typeToString(type, undefined, FLAGS | ts.TypeFormatFlags.InTypeAlias)}`];
  }
  return [`const ${name}: ${typeOf(checker.getTypeOfSymbol(symbol))}`];
}

/** Those that are declared by the package and not private. */
function membersOf(type: ts.Type): readonly string[] {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return checker
    .getPropertiesOfType(type)
    .filter(({ name, declarations = [] }) => {
      const isOurs = declarations.some((one) => !program.isSourceFileDefaultLibrary(one.getSourceFile()));
      const isHidden = declarations.some((one) => (ts.getCombinedModifierFlags(one) & hidden) !== 0);
      return isOurs && !isHidden && name !== "#private";
    })
    .map((member) => {
      const mark = member.flags & ts.SymbolFlags.Optional ? "?" : "";
      return `${member.name.startsWith("__@") ? `[${member.name.replace(/^__@|@\d+$/g, "")}]` : member.name}${mark}: ${typeOf(checker.getTypeOfSymbol(member))}`;
    })
    .sort();
}

test.each(entries)("the entry $entry has the names and types of its record", async ({ entry, file }) => {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module`);
  const shown = [...checker.getExportsOfModule(module)].sort((a, b) => (a.name < b.name ? -1 : 1));
  expect(shown.length).toBeGreaterThan(0);
  const name = entry === "." ? "heed" : entry.slice(2);
  const text = shown.map((symbol) => `${linesOf(symbol).join("\n")}\n`).join("\n");
  await expect(text).toMatchFileSnapshot(`surface/${name}.txt`);
});
