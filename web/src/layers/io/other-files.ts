// Recognizes files of other formats by their first bytes, and says what to do instead.

import { causeText } from "../../base/errors.js";

/** The first bytes, in hexadecimal, of other formats for models. */
const BEGINNINGS: readonly (readonly [start: RegExp, what: string])[] = [
  // A length below 2^40, then JSON.
  [/^.{10}0000007b/, "a safetensors file: load it by loadSafetensors"],
  [/^47475546/, "a GGUF file: load it by loadGguf"],
  [/^504b0304|^800[2-5]/, "a file of PyTorch's: save the model by save_file of safetensors.torch"],
  [/^89484446/, "an HDF5 file: save its weights by save_file of safetensors.numpy"],
  // A ModelProto: its version, then the name of its producer or another field.
  [/^08(0[3-9a-f]|1.)(12|1a|22|28|32|3a|42)/, "an ONNX file: load the model's safetensors file"],
  [/^(7b|5b)(0.|20)*(22|7b|7d)/, "a JSON file: the weights are in another one"],
  [/^3c|^76657273696f6e20/, "a web page or a pointer to a file: load the file itself"],
];

/** `, as of a GGUF file: ...`, or an empty string where the format is not known. */
export function whatItIs(bytes: Uint8Array): string {
  const start = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const found = BEGINNINGS.find(([beginning]) => beginning.test(start));
  return found === undefined ? "" : `, as of ${found[1]}`;
}

/** Why an address could not be fetched. Outside pages a path is not an address. */
export function whyNotFetched(address: string | URL, cause: unknown): string {
  const isPath = globalThis.location === undefined && !/^(?!file:)[a-z][a-z\d+.-]+:/i.test(String(address));
  return isPath
    ? "a path must be read first: give the bytes, as of readFile(path), or await openAsBlob(path)"
    : causeText(cause);
}
