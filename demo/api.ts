// The API reference: a page for each entry of the package, made of its declarations by TypeScript's compiler, and a list of all names.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** What each entry is for, in the order of the list. */
const ABOUT: Readonly<Record<string, string>> = {
  heed: "Attention, KV caches, positions, and the engines that compute them.",
  "heed/layers": "Layers, models, files of weights, and generation.",
  "heed/models": "Models from their files: text in, text and vectors out.",
  "heed/text": "Tokenizers and chat templates alone.",
  "heed/train": "Gradients, losses, optimizers, and the training loop.",
  "heed/webgpu": "Kernels that are tuned for a GPU.",
  "heed/expr": "Score and mask functions of one’s own, as expressions.",
  "heed/reference": "The same computation in plain TypeScript and double precision.",
  "heed/viz": "Attention weights as custom elements.",
  "heed/assets": "All that heed exports, for pages that host the WebAssembly and the worker as files.",
};

/** It exports the names of another entry. */
const HOSTED = "heed/assets";

/** The list of all names. */
const LIST = "api.html";
const pageOf = (entry: string): string => `api-${entry.replace("heed/", "")}.html`;
export const API_PAGES: readonly string[] = [LIST, ...Object.keys(ABOUT).map(pageOf)];

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** A page's title and what stands in it. */
export function apiPage(page: string): readonly [title: string, body: string] | undefined {
  if (!API_PAGES.includes(page)) return undefined;
  reference ??= new Reference();
  const entry = Object.keys(ABOUT).find((name) => pageOf(name) === page);
  return entry === undefined ? ["API", reference.list()] : [entry, reference.page(entry)];
}

let reference: Reference | undefined;

interface Named {
  readonly name: string;
  readonly symbol: ts.Symbol;
}

const VALUE = ts.SymbolFlags.Value;
const TYPE = ts.SymbolFlags.Type;

class Reference {
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;
  /** What each entry exports. */
  readonly #exports = new Map<string, readonly Named[]>();
  /** Where a declaration is shown: on the page of the first entry that exports it. */
  readonly #places = new Map<ts.Symbol, string>();

  constructor() {
    const { exports }: { exports: Record<string, string | { types: string }> } = JSON.parse(
      readFileSync(`${ROOT}package.json`, "utf8"),
    );
    const files = Object.keys(ABOUT).map((entry) => {
      const target = exports[entry.replace("heed", ".")];
      return [entry, `${ROOT}${typeof target === "object" ? target.types : target}`] as const;
    });
    this.#program = ts.createProgram(
      files.map(([, file]) => file),
      {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext,
        lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
        types: [],
      },
    );
    this.#checker = this.#program.getTypeChecker();
    for (const [entry, file] of files) {
      const source = this.#program.getSourceFile(file);
      const module = source && this.#checker.getSymbolAtLocation(source);
      if (module === undefined) throw new Error(`${file} is not there: npm run build makes it`);
      const named = this.#checker
        .getExportsOfModule(module)
        .map((shown) => ({ name: shown.name, symbol: this.#meant(shown) }));
      this.#exports.set(entry, named);
      for (const { name, symbol } of named)
        if (!this.#places.has(symbol)) this.#places.set(symbol, `./${pageOf(entry)}#${name}`);
    }
  }

  #meant(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
  }

  /** Every name of every entry with the first sentence about it. */
  list(): string {
    const parts = Object.entries(ABOUT).map(([entry, about]) => {
      const items = this.#namesOf(entry).map(({ name, symbol }) => {
        const [first = ""] = /^(?:`[^`]*`|[^`])*?\.(?=\s|$)/s.exec(this.#docOf(symbol)) ?? [this.#docOf(symbol)];
        return `<li><a href="./${pageOf(entry)}#${name}"><code>${name}</code></a> <span>${inline(first)}</span></li>`;
      });
      return `<section class="api"><h2 id="${entry.replace("/", "-")}"><a href="./${pageOf(entry)}">${entry}</a></h2>
<p>${about}</p>${entry === HOSTED ? "" : `<ul class="api-names">${items.join("")}</ul>`}</section>`;
    });
    return `<h1>API</h1>
<p>Every name that the package exports, with its type and what it means. <a href="./docs.html">Docs</a> tell the rest as a text.</p>
${parts.join("\n")}`;
  }

  page(entry: string): string {
    const names = this.#namesOf(entry);
    const head = `<h1>${entry}</h1>
<p>${ABOUT[entry]} <a href="./${LIST}">All entries</a></p>
<pre tabindex="0"><code>import { … } from "${entry}";</code></pre>`;
    if (entry === HOSTED) return `${head}\n${links(names, `./${pageOf("heed")}`)}`;
    const groups = [
      ["Functions, classes and constants", names.filter(({ symbol }) => symbol.flags & VALUE)],
      ["Types", names.filter(({ symbol }) => !(symbol.flags & VALUE))],
    ] as const;
    const behind = new Map<string, ts.Symbol>();
    const parts = groups.flatMap(([title, group]) =>
      group.length === 0
        ? []
        : [`<h2>${title}</h2>`, links(group), ...group.map(({ name, symbol }) => this.#shown(name, symbol, behind))],
    );
    const others: string[] = [];
    // What these refer to may refer to more.
    for (const [id, symbol] of behind) others.push(this.#shown(symbol.name, symbol, behind, id));
    if (others.length > 0) parts.push(`<h2>Types that these refer to</h2>`, ...others);
    return `${head}\n${parts.join("\n")}`;
  }

  #namesOf(entry: string): readonly Named[] {
    const names = this.#exports.get(entry) ?? [];
    return [...names].sort((a, b) => a.name.localeCompare(b.name, "en"));
  }

  #docOf(symbol: ts.Symbol): string {
    return ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
  }

  /** `behind`: what has no page, by the id that it gets on this one. */
  #shown(name: string, symbol: ts.Symbol, behind: Map<string, ts.Symbol>, id = name): string {
    const code = (node: ts.Node): string => this.#linked(node, behind);
    const declarations = symbol.declarations ?? [];
    const signatures = this.#functionsOf(symbol);
    const heads = (signatures.length > 0 ? [] : declarations).map((one) =>
      headOf(name, one, code, (type) => this.#written(type)),
    );
    const called = signatures.map((one) => `function ${code(one)}`.replace(/;$/, ""));
    const told = [this.#docOf(symbol), ...new Set(signatures.map((one) => docOfNode(one)))];
    const members = declarations.flatMap((one) => this.#membersOf(one, id, code));
    return `<section class="api"><h3 id="${id}">${name}</h3>
<pre tabindex="0"><code>${[...heads, ...called].join("\n")}</code></pre>
${told.map(paragraphs).join("\n")}
${members.length === 0 ? "" : `<dl class="api-members">${members.join("")}</dl>`}</section>`;
  }

  /** Of a constant that is a method of something else: how that is declared. */
  #functionsOf(symbol: ts.Symbol): readonly ts.Node[] {
    const [declaration] = symbol.declarations ?? [];
    if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return [];
    if (declaration.type === undefined || !ts.isIndexedAccessTypeNode(declaration.type)) return [];
    const signatures = this.#checker.getTypeOfSymbol(symbol).getCallSignatures();
    return signatures.flatMap((one) => one.getDeclaration() ?? []);
  }

  #membersOf(declaration: ts.Node, id: string, code: (node: ts.Node) => string): readonly string[] {
    if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return [];
    const byName = new Map<string, ts.Node[]>();
    for (const member of declaration.members as ts.NodeArray<ts.ClassElement | ts.TypeElement>) {
      const isSetter = ts.isSetAccessorDeclaration(member);
      const name = member.name?.getText() ?? (ts.isConstructorDeclaration(member) ? "constructor" : "call");
      if (isOurs(member) || (isSetter && byName.has(name))) continue;
      byName.set(name, [...(byName.get(name) ?? []), member]);
    }
    return Array.from(byName, ([name, all]) => {
      const about = Array.from(new Set(all.map((one) => docOfNode(one))), paragraphs).join("");
      const lines = all.map((one) => `<code>${short(code(one))}</code>`);
      return `<dt id="${escaped(`${id}.${name.replace("[DISPOSE]", "dispose-symbol")}`)}">${lines.join("<br />")}</dt><dd>${about}</dd>`;
    });
  }

  #written(type: ts.Node): string {
    return this.#checker.typeToString(
      this.#checker.getTypeAtLocation(type),
      undefined,
      ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias,
    );
  }

  /** The text of a declaration, in which types lead to where they are explained. */
  #linked(node: ts.Node, behind: Map<string, ts.Symbol>): string {
    const source = node.getSourceFile();
    let [text, place] = ["", node.getStart(source)];
    const visit = (one: ts.Node): void => {
      if (ts.isImportTypeNode(one) && one.qualifier !== undefined) {
        text += escaped(source.text.slice(place, one.getStart(source)));
        place = one.qualifier.getStart(source);
      }
      const goal = ts.isIdentifier(one) ? this.#goalOf(one, behind) : undefined;
      if (goal !== undefined) {
        text += `${escaped(source.text.slice(place, one.getStart(source)))}<a href="${goal}">${one.getText(source)}</a>`;
        place = one.getEnd();
      }
      ts.forEachChild(one, visit);
    };
    visit(node);
    return text + escaped(source.text.slice(place, node.getEnd()));
  }

  #goalOf(identifier: ts.Identifier, behind: Map<string, ts.Symbol>): string | undefined {
    const found = this.#checker.getSymbolAtLocation(identifier);
    const symbol = found && this.#meant(found);
    const [declaration] = symbol?.declarations ?? [];
    if (symbol === undefined || declaration === undefined || declaration === identifier.parent) return undefined;
    if (!(symbol.flags & TYPE) || symbol.flags & ts.SymbolFlags.TypeParameter) return undefined;
    if (this.#program.isSourceFileDefaultLibrary(declaration.getSourceFile())) return undefined;
    const place = this.#places.get(symbol);
    if (place !== undefined) return place;
    const id = `type-${symbol.name}`;
    if ((behind.get(id) ?? symbol) !== symbol) throw new Error(`two types of one page are called ${symbol.name}`);
    behind.set(id, symbol);
    return `#${id}`;
  }
}

/** What a declaration says before its members. */
function headOf(
  name: string,
  declaration: ts.Declaration,
  code: (node: ts.Node) => string,
  written: (type: ts.Node) => string,
): string {
  if (ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)) {
    const kind = ts.isClassDeclaration(declaration) ? "class" : "interface";
    const parameters = declaration.typeParameters?.map(code).join(", ");
    // A base that has no name is what TypeScript made of an expression.
    const bases = declaration.heritageClauses?.map(code).filter((base) => !base.includes("_base")) ?? [];
    return [`${kind} ${name}${parameters === undefined ? "" : `&lt;${parameters}&gt;`}`, ...bases].join(" ");
  }
  if (ts.isTypeAliasDeclaration(declaration)) {
    const parameters = declaration.typeParameters?.map(code).join(", ");
    const isMade = declaration.type.getText().includes("typeof ");
    const type = isMade ? escaped(written(declaration.type)) : code(declaration.type);
    return `type ${name}${parameters === undefined ? "" : `&lt;${parameters}&gt;`} = ${type}`;
  }
  if (ts.isVariableDeclaration(declaration)) return `const ${code(declaration)}`;
  return code(declaration).replace(/^(?:export )?(?:declare )?/, "");
}

/** What a caller has no business with. */
function isOurs(member: ts.ClassElement | ts.TypeElement): boolean {
  const modifiers = ts.canHaveModifiers(member) ? (ts.getModifiers(member) ?? []) : [];
  const isHidden = modifiers.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
  return (
    isHidden ||
    member.name?.getText().startsWith("#") === true ||
    /^protected readonly \w+: never/.test(member.getText())
  );
}

/** A property may be left out, and then it is undefined; that none can be written is said once. */
const short = (code: string): string =>
  code
    .replace(/^readonly /, "")
    .replace(/^get (\w+)\(\)/, "$1")
    .replace(/^(\w+\?: .*) \| undefined;$/s, "$1;")
    .replace("[DISPOSE]", "[Symbol.dispose]")
    .replace(/;$/, "");

function docOfNode(node: ts.Node): string {
  const comments = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return comments.map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "").join("\n");
}

const inline = (text: string): string => escaped(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");

const paragraphs = (text: string): string =>
  text
    .split(/\n\s*\n/)
    .filter((part) => part.trim() !== "")
    .map((part) => `<p>${inline(part)}</p>`)
    .join("");

const links = (names: readonly Named[], page = ""): string =>
  `<p class="api-line">${names.map(({ name }) => `<a href="${page}#${name}"><code>${name}</code></a>`).join(" · ")}</p>`;
