// The files of a model by the names under which they are published, wherever they are.

import type { FileSource } from "../layers/io/byte-reader.js";

export interface NamedFile {
  readonly name: string;
  readonly open: () => Promise<FileSource>;
}

export interface ModelFiles {
  /** The place, in messages. */
  readonly place: string;
  /** Where the model is one file. */
  readonly gguf: NamedFile | null;
  /** Null where there is no file of that name, which may have a folder in it. */
  readonly open: (name: string) => Promise<FileSource | null>;
}

/** How files are fetched that are not here. */
export interface Fetching {
  readonly signal: AbortSignal | null;
  /** Whether they are kept in the browser's storage. */
  readonly isKept: boolean;
  readonly report: (progress: FileProgress) => void;
}

/** How much has arrived, in bytes, and of which file. */
export interface FileProgress {
  readonly loaded: number;
  /** Undefined until it is known. */
  readonly total: number | undefined;
  readonly file: string;
}
