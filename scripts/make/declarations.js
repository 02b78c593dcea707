// Writes the declarations that the package's entries export, with those that they refer to, and no others of web/src.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { Failure, run } from "../lib/steps.js";
import { root } from "./root.js";

/** @param {readonly string[]} entries files in web/src @param {string} folder where the declarations go */
export async function declare(entries, folder) {
  const made = join(root, "build", "declarations");
  rmSync(made, { recursive: true, force: true });
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.declarations.json"], {
    cwd: root,
  });
  /** @type {Map<string, Declarations>} */
  const files = new Map();
  /** @param {string} path @returns {Declarations} */
  const open = (path) => {
    if (path.includes("/generated/")) throw new Failure(`the public types reach ${path}`);
    const file = files.get(path) ?? new Declarations(path, open);
    files.set(path, file);
    return file;
  };
  for (const entry of entries)
    open(join(made, relative(join(root, "web/src"), entry).replace(/\.ts$/, ".d.ts"))).useAll();
  for (const file of files.values()) file.useGlobals();
  for (const [path, file] of files) {
    if (!file.isUsed) continue;
    const target = join(folder, relative(made, path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, file.text());
  }
}

/** A file of declarations, of which some are used. */
class Declarations {
  /** @type {ts.SourceFile} */
  #source;
  /** Finds the file that a specifier names. @type {(specifier: ts.Node) => Declarations} */
  #open;
  /** The statements that declare a name, and the specifiers that import or export it. @type {Map<string, ts.Node[]>} */
  #named = new Map();
  /** @type {Set<ts.Node>} */
  #used = new Set();

  /** @param {string} path @param {(path: string) => Declarations} open */
  constructor(path, open) {
    this.#source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
    this.#open = (specifier) => open(join(dirname(path), specifier.getText().slice(1, -1).replace(/\.js$/, ".d.ts")));
    for (const statement of this.#source.statements) {
      for (const [name, node] of namesOf(statement)) this.#named.set(name, [...(this.#named.get(name) ?? []), node]);
    }
  }

  /** Everything that the file exports. */
  useAll() {
    for (const statement of this.#source.statements) {
      if (ts.isExportDeclaration(statement) && statement.exportClause === undefined) {
        this.#used.add(statement);
        this.#open(/** @type {ts.Expression} */ (statement.moduleSpecifier)).useAll();
      } else if (ts.isExportDeclaration(statement) || isExported(statement)) {
        for (const [name] of namesOf(statement)) this.use(name);
      }
    }
  }

  /** What the file adds to the types of the page or of another file refers to. */
  useGlobals() {
    for (const statement of this.#source.statements) if (isGlobal(statement)) this.#useIn(statement);
  }

  /** @param {string} name */
  use(name) {
    for (const node of this.#named.get(name) ?? []) {
      if (this.#used.has(node)) continue;
      this.#used.add(node);
      if (!ts.isImportSpecifier(node) && !ts.isExportSpecifier(node)) this.#useIn(node);
      else {
        const { moduleSpecifier } = declarationOf(node);
        const file = moduleSpecifier === undefined ? this : this.#open(moduleSpecifier);
        file.use((node.propertyName ?? node.name).text);
      }
    }
  }

  get isUsed() {
    return this.#used.size > 0 || this.#source.statements.some(isGlobal);
  }

  /** What a declaration refers to. @param {ts.Node} node */
  #useIn(node) {
    if (isOwn(node)) return;
    if (ts.isIdentifier(node)) this.use(node.text);
    if (ts.isImportTypeNode(node)) {
      const [name = ""] = node.qualifier?.getText().split(".") ?? [];
      this.#open(/** @type {ts.LiteralTypeNode} */ (node.argument).literal).use(name);
    }
    node.forEachChild((child) => this.#useIn(child));
  }

  text() {
    const references = this.#source.text.match(/^\/\/\/ <.*>$/gm) ?? [];
    const statements = this.#source.statements.map((statement) => this.#textOf(statement).trim());
    return `${[...references, ...statements, "export {};"].filter((text) => text !== "").join("\n")}\n`;
  }

  /** @param {ts.Statement} statement */
  #textOf(statement) {
    const specifiers = specifiersOf(statement);
    if (specifiers === null) return this.#used.has(statement) || isGlobal(statement) ? withoutOwn(statement) : "";
    const used = specifiers.filter((specifier) => this.#used.has(specifier));
    const [head = "", tail = ""] = statement.getText().split(/\{[^}]*\}/);
    return used.length === 0 ? "" : `${head}{ ${used.map((specifier) => specifier.getText()).join(", ")} }${tail}`;
  }
}

/**
 * A member of a class that heed's own layers use. It keeps its name, which a subclass must not use for anything else, and no more.
 * @param {ts.Node} node @returns {node is ts.ClassElement}
 */
function isOwn(node) {
  if (!ts.isClassElement(node) || ts.isConstructorDeclaration(node) || !ts.canHaveModifiers(node)) return false;
  const isProtected = ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ProtectedKeyword) === true;
  return isProtected && !ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "public");
}

/** @param {ts.Statement} statement */
function withoutOwn(statement) {
  const members = ts.isClassDeclaration(statement) ? [...statement.members] : [];
  const own = members.filter((member) => isOwn(member));
  const others = new Set(members.filter((member) => !own.includes(member)).map((member) => member.name?.getText()));
  const start = statement.getFullStart();
  return own.reduceRight((text, member) => {
    const [from, to] = [member.getFullStart() - start, member.getEnd() - start];
    const name = others.has(member.name?.getText()) ? "" : `\n    protected readonly ${member.name?.getText()}: never;`;
    return `${text.slice(0, from)}${name}${text.slice(to)}`;
  }, statement.getFullText());
}

/** The names in the braces of an import or export; null of another statement. @param {ts.Statement} statement */
function specifiersOf(statement) {
  if (ts.isImportDeclaration(statement)) {
    const bindings = statement.importClause?.namedBindings;
    return bindings !== undefined && ts.isNamedImports(bindings) ? [...bindings.elements] : null;
  }
  if (!ts.isExportDeclaration(statement) || statement.exportClause === undefined) return null;
  return ts.isNamedExports(statement.exportClause) ? [...statement.exportClause.elements] : null;
}

/** What a statement names, with the node that stands for each. @param {ts.Statement} statement @returns {(readonly [string, ts.Node])[]} */
function namesOf(statement) {
  const specifiers = specifiersOf(statement);
  if (specifiers !== null) return specifiers.map((specifier) => [specifier.name.text, specifier]);
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => [name.getText(), statement]);
  }
  const { name } = /** @type {ts.Statement & { readonly name?: ts.Node }} */ (statement);
  return name === undefined ? [] : [[name.getText(), statement]];
}

/** @param {ts.ImportSpecifier | ts.ExportSpecifier} specifier */
const declarationOf = (specifier) =>
  ts.isImportSpecifier(specifier) ? specifier.parent.parent.parent : specifier.parent.parent;

/** @param {ts.Statement} statement */
const isExported = (statement) =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

/** It adds to the types of the page, or to those of another file. @param {ts.Statement} statement */
const isGlobal = (statement) =>
  ts.isModuleDeclaration(statement) && (ts.isStringLiteral(statement.name) || statement.name.text === "global");
