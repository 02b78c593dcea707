// What the binaries hold of others, and the licences of that: by the linker's maps, in the words that were installed with the tools.

import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../lib/steps.js";
import { MODULES, moduleFile } from "./artefacts.js";
import { root } from "./root.js";

export const noticesFile = join(root, "build", "THIRD-PARTY-NOTICES.txt");

/**
 * Whose work each library is that the linker may take something from.
 * @type {Record<string, keyof typeof WORKS>}
 */
const LIBRARIES = {
  libbulkmemory: "Emscripten",
  libembind: "Emscripten",
  libemmalloc: "Emscripten",
  libnoexit: "Emscripten",
  libstubs: "Emscripten",
  libwasm_workers: "Emscripten",
  libc: "musl",
  "libc++": "libc++",
  "libc++abi": "libc++abi",
  libcompiler_rt: "compiler-rt",
};

/** The folder of each work below Emscripten's, and its licence there. Debian moves most of these into a file of its own. */
const WORKS = {
  Emscripten: { folder: "", licence: "LICENSE" },
  musl: { folder: "system/lib/libc/musl", licence: "COPYRIGHT" },
  "libc++": { folder: "system/lib/libcxx", licence: "LICENSE.TXT" },
  "libc++abi": { folder: "system/lib/libcxxabi", licence: "LICENSE.TXT" },
  "compiler-rt": { folder: "system/lib/compiler-rt", licence: "LICENSE.TXT" },
};

/** The archives that a module was linked from, without the suffixes of their builds. @param {string} map */
export function librariesIn(map) {
  const archives = map.matchAll(/\/wasm32-emscripten\/(?:\w+\/)*([\w+]+)[\w+-]*\.a\(/g);
  return [...new Set([...archives].map(([, name = ""]) => name))].sort();
}

/** @param {import("../toolchain/find.js").Toolchain<"wasm">} toolchain */
export function writeNotices(toolchain) {
  const libraries = librariesIn(MODULES.map((name) => readFileSync(moduleFile(name, "map"), "utf8")).join("\n"));
  writeFileSync(noticesFile, notices(libraries, toolchain));
}

/**
 * @param {readonly string[]} libraries
 * @param {{ emscripten: { root: string }, xsimd: { includeDir: string } }} tools
 */
export function notices(libraries, { emscripten, xsimd }) {
  const nameless = libraries.filter((library) => !Object.hasOwn(LIBRARIES, library));
  if (nameless.length > 0) throw new Failure(`no licence is known for what was linked: ${nameless.join(", ")}`);
  const works = /** @type {(keyof typeof WORKS)[]} */ (Object.keys(WORKS)).flatMap((work) => {
    const own = libraries.filter((library) => LIBRARIES[library] === work);
    // Emscripten is always among them: it wrote the code around each binary.
    if (own.length === 0 && work !== "Emscripten") return [];
    return [section(work, own, licenceOf(emscripten.root, WORKS[work]))];
  });
  const all = [section("xsimd", [], xsimdLicence(xsimd.includeDir)), ...works];
  // Debian's texts name some licences by their path on every Debian system.
  const common = new Set(all.join("\n").match(/\/usr\/share\/common-licenses\/[\w.-]*\w/g));
  return [INTRODUCTION, ...all, ...[...common].map((file) => section(file, [], firstOf([file])))].join("\n");
}

const INTRODUCTION = `The WebAssembly binaries of heed, and the JavaScript that starts them, hold parts of the following works.
heed itself is under the licence in its file LICENSE.
`;

const RULE = "=".repeat(78);

/** @param {string} work @param {readonly string[]} libraries @param {string} licence */
function section(work, libraries, licence) {
  const linked = libraries.length > 0 ? `linked: ${libraries.join(", ")}\n` : "";
  return `${RULE}\n${work}\n${linked}${RULE}\n\n${licence.trim()}\n`;
}

/** Headers from Debian's package, or from a checkout or a prefix of their own. @param {string} includeDir */
function xsimdLicence(includeDir) {
  const prefix = join(realpathSync(join(includeDir, "xsimd")), "..", "..");
  return firstOf([join(prefix, "LICENSE"), join(prefix, "share/doc/libxsimd-dev/copyright")]);
}

/** @param {string} emscripten @param {{ folder: string, licence: string }} work */
function licenceOf(emscripten, { folder, licence }) {
  const own = join(emscripten, folder, licence);
  const debian = join(emscripten, "../doc/emscripten/copyright");
  if (existsSync(own) || !existsSync(debian)) return firstOf([own]);
  return debianNotice(readFileSync(debian, "utf8"), folder === "" ? "*" : `${folder}/*`);
}

/** @param {readonly string[]} files */
function firstOf(files) {
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Failure(`heed's binaries need a licence that is not here: ${files.join(", or ")}`);
  return readFileSync(file, "utf8");
}

/**
 * The paragraph about some files, and the texts of the licences that it names.
 * @param {string} copyright a file in Debian's format @param {string} files as it names them
 */
function debianNotice(copyright, files) {
  const paragraphs = copyright.split(/\n(?:\s*\n)+/);
  const about = paragraphs.find((text) => /^Files:((?:\s+\S+)+?)\nCopyright:/.exec(text)?.[1]?.trim() === files);
  if (about === undefined) throw new Failure(`Debian's file on Emscripten's copyrights says nothing of ${files}`);
  const names = /^License:(.*)$/m.exec(about)?.[1]?.split(/\band\b|\bor\b|\bwith\b/) ?? [];
  const texts = names.flatMap(
    (name) =>
      paragraphs
        .find((text) => text.startsWith(`License: ${name.trim()}\n`))
        ?.split("\n")
        .slice(1)
        .join("\n") ?? [],
  );
  return [about, ...texts].join("\n\n").replaceAll(/^ \.?/gm, "");
}
