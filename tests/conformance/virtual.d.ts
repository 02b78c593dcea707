declare module "virtual:conformance" {
  /** ONNX's cases; null where their folder is missing. */
  export const set: { readonly index: import("./onnx.js").CaseIndex; readonly bytes: Uint8Array } | null;
  /** Whether a missing folder is a failure, as continuous integration demands. */
  export const required: boolean;
  export const folder: string;
}
