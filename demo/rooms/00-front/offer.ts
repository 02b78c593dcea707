// The one press by which MiniLM comes: from this site's folder, from what was kept of a visit before, or from the reader's files. Nothing
// is loaded until it is pressed.

import { FileTrouble } from "../../src/brought/arrays.js";
import { listenToDrops, pathsOf } from "../../src/brought/dropped.js";
import type { BroughtFile, ModelFiles } from "../../src/brought/files.js";
import { LongWork } from "../../src/ui/controls.js";
import { button, fileButton, h } from "../../src/ui/dom.js";
import { bytes } from "../../src/ui/numbers.js";
import { forgetModel, isFetched, keepFiles, keptFiles } from "./kept-model.js";
import type { Read } from "./minilm.js";
import { troubleSaid } from "./own-said.js";
import { MINILM } from "./recorded.js";

/** Where whoever builds the site puts it. */
const FOLDER = `./models/${MINILM}/`;

const PUBLISHED = `This site does not have MiniLM. Open or drop config.json, tokenizer.json and model.safetensors of ${MINILM}, as sentence-transformers publishes it; they stay on this device.`;

/** `opened`: with what reads; `progressed`: how much of it is there, of 1. */
export function offer(opened: (read: Read | undefined) => void, progressed: (done: number) => void) {
  const element = h("div", { class: "offer" });
  const size = Number(element.ownerDocument.querySelector<HTMLElement>("#own")?.dataset["bytes"]);
  const isOnSite = size > 0;
  /** The reader's files: those to be loaded, and those that stay on this device. */
  let [given, kept]: (ModelFiles | undefined)[] = [];
  let isOpen = false;
  const work: LongWork = new LongWork({
    name: "Read it with MiniLM",
    look: "button primary",
    run: async (signal, say) => {
      const files = given;
      try {
        const { openModel } = await import("./minilm.js");
        const { by, read } = await openModel(FOLDER, files, signal, (said, done = 0) => {
          say(said);
          progressed(done);
        });
        if (files !== undefined && files !== kept) {
          await keepFiles(files);
          kept = files;
        }
        signal.throwIfAborted();
        isOpen = true;
        opened(async (...asked) => {
          try {
            return await read(...asked);
          } catch (error) {
            if (!(error instanceof FileTrouble)) await lose(error);
            throw error;
          }
        });
        return `${by} reads along.`;
      } catch (error) {
        if (!signal.aborted && given === files) given = kept;
        if (error instanceof FileTrouble) return error.message;
        throw error;
      } finally {
        progressed(0);
        await show();
      }
    },
  });
  /** The worker holds one model: the next takes its place. */
  const close = (): void => {
    if (isOpen) opened(undefined);
    isOpen = false;
  };
  /** The worker broke off, and the model went with it. */
  const lose = async (error: unknown): Promise<void> => {
    close();
    await show();
    work.say(troubleSaid(error));
  };
  const take = async (files: Promise<readonly BroughtFile[]>): Promise<void> => {
    try {
      given = await (await import("./minilm.js")).gather(await files);
      close();
      // Its button stops the work.
      await show();
      work.begin();
    } catch (error) {
      work.say(troubleSaid(error));
    }
  };
  const files = fileButton(
    "Read it with MiniLM: open its files…",
    "minilm-files",
    ".safetensors,.json,.gguf",
    (chosen) => void take(pathsOf(chosen)),
  );
  const where = h("p", { class: "small-label" }, PUBLISHED);
  const forget = button("Forget MiniLM", () => void forgetIt(), "link");
  const forgetIt = async (): Promise<void> => {
    await work.stop();
    await forgetModel();
    [given, kept] = [undefined, undefined];
    close();
    (await import("./minilm.js")).close();
    await show();
    work.say("Forgotten.");
  };

  async function show(): Promise<void> {
    if (!isOpen) kept ??= await keptFiles();
    given ??= kept;
    const isKept = given !== undefined || (!isOpen && isOnSite && (await isFetched(FOLDER)));
    work.rename(`Read it with MiniLM${isKept ? ", kept on this device" : `, ${bytes(size)} once`}`);
    work.button.hidden = isOpen || !(isKept || isOnSite);
    for (const one of [files, where]) one.hidden = isOpen || isKept || isOnSite;
    forget.hidden = !isKept && !isOpen;
  }

  // Until it is known what is there.
  for (const one of [work.button, files, where, forget]) one.hidden = true;
  element.append(work.line(files, forget), where);
  listenToDrops((dropped) => void take(dropped));
  void show();
  return {
    element,
    /** `isNeeded`: nothing else reads the sentence. */
    need: (isNeeded: boolean): void => {
      work.button.classList.toggle("primary", isNeeded);
      files.classList.toggle("primary", isNeeded);
    },
  };
}
