// The one press by which MiniLM comes: from this site's folder, from what was kept of a visit before, or from the reader's files. Nothing
// is loaded until it is pressed.

import { messageOf } from "../../src/brought/arrays.js";
import { listenToDrops, pathsOf } from "../../src/brought/dropped.js";
import type { BroughtFile, ModelFiles } from "../../src/brought/files.js";
import { LongWork } from "../../src/ui/controls.js";
import { button, fileButton, h } from "../../src/ui/dom.js";
import { bytes } from "../../src/ui/numbers.js";
import { forgetModel, isFetched, keptFiles } from "./kept-model.js";
import type { Read } from "./minilm.js";
import { MINILM } from "./recorded.js";

/** Where whoever builds the site puts it. */
const FOLDER = `./models/${MINILM}/`;

const PUBLISHED = `This site does not have MiniLM. Open or drop config.json, tokenizer.json and model.safetensors of ${MINILM}, as sentence-transformers publishes it; they stay on this device.`;

/** `opened`: with what reads; `progressed`: how much of it is there, of 1. */
export function offer(opened: (read: Read | undefined) => void, progressed: (done: number) => void) {
  const element = h("div", { class: "offer" });
  const size = Number(element.ownerDocument.querySelector<HTMLElement>("#own")?.dataset["bytes"]);
  const isOnSite = size > 0;
  let given: ModelFiles | undefined;
  const work: LongWork = new LongWork({
    name: "Read it with MiniLM",
    look: "button primary",
    run: async (signal, say) => {
      const { openModel } = await import("./minilm.js");
      try {
        const read = await openModel(FOLDER, given, signal, (said, done = 0) => {
          say(said);
          progressed(done);
        });
        opened(read);
        await show(true);
        return "MiniLM reads along.";
      } finally {
        progressed(0);
      }
    },
  });
  const take = async (files: Promise<readonly BroughtFile[]>): Promise<void> => {
    try {
      given = await (await import("./minilm.js")).gather(await files);
      work.begin();
    } catch (error) {
      work.say(messageOf(error));
    }
  };
  const files = fileButton(
    "Read it with MiniLM: open its files…",
    "minilm-files",
    ".safetensors,.json,.gguf",
    (chosen) => void take(pathsOf(chosen)),
  );
  const where = h("p", { class: "small-label" }, PUBLISHED);
  const forget = button("Forget it", () => void forgetIt(), "link");
  const forgetIt = async (): Promise<void> => {
    await forgetModel();
    given = undefined;
    opened(undefined);
    await show();
    work.say("Forgotten.");
  };

  async function show(isOpen = false): Promise<void> {
    given ??= await keptFiles();
    const isKept = given !== undefined || (isOnSite && (await isFetched(FOLDER)));
    work.button.textContent = `Read it with MiniLM${isKept ? ", kept on this device" : `, ${bytes(size)} once`}`;
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
