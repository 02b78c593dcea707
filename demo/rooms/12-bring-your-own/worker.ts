// What takes long, beside the page's own thread: files are read, and models that were brought are run.

import { FileTrouble, surveyOf } from "./arrays.js";
import type { Piece } from "./model/pieces.js";
import type { Model } from "./model/recognise.js";
import { type Pass, Runner } from "./model/run.js";
import { messageOf, readFile } from "./read-files.js";

export type Task =
  | { readonly kind: "read"; readonly file: File }
  | { readonly kind: "run"; readonly model: Model; readonly asked: string };

export interface Asked {
  readonly id: number;
  readonly task: Task;
}

export type Told =
  | { readonly id: number; readonly kind: "said"; readonly text: string }
  | { readonly id: number; readonly kind: "done"; readonly outcome: Piece | Pass }
  /** `isFile`: in words for the reader; else what broke. */
  | { readonly id: number; readonly kind: "failed"; readonly message: string; readonly isFile: boolean };

const runner = new Runner();

async function outcomeOf(task: Task, say: (text: string) => void): Promise<readonly [Piece | Pass, ArrayBuffer[]]> {
  if (task.kind === "run") {
    const pass = await runner.run(task.model, task.asked, say);
    return [pass, pass.weights.flatMap(({ buffer }) => (buffer instanceof ArrayBuffer ? [buffer] : []))];
  }
  const piece = await readFile(task.file);
  if (piece.kind !== "arrays") return [piece, []];
  // Here, where it keeps nobody waiting.
  const arrays = piece.arrays.map((array) => ({ ...array, survey: surveyOf(array) }));
  return [{ ...piece, arrays }, arrays.map(({ data }) => data.buffer)];
}

addEventListener("message", ({ data: { id, task } }: MessageEvent<Asked>) => {
  const tell = (told: Told, transfer: ArrayBuffer[] = []): void => postMessage(told, { transfer });
  outcomeOf(task, (text) => tell({ id, kind: "said", text })).then(
    ([outcome, transfer]) => tell({ id, kind: "done", outcome }, transfer),
    (error: unknown) => tell({ id, kind: "failed", message: messageOf(error), isFile: error instanceof FileTrouble }),
  );
});
