// What the models found in sentences, as far as it is known; the first sentence's is recorded. Models are loaded when something else is asked.

import type { Engine } from "../../src/engine/engine.js";
import type { Inside, Reading } from "../../src/language/inside.js";
import type { Kind } from "../../src/language/words.js";
import recorded from "./recorded.json";

export interface Question {
  readonly kind: Kind;
  readonly ids: readonly number[];
  readonly asked: number;
  /** Heads that are switched off. */
  readonly off: readonly number[];
}

const MOST_KNOWN = 64;

export class Readings {
  readonly #known = new Map<string, Reading>([[keyOf(recorded.question as Question), recorded.reading]]);
  /** Of each kind the whole model, and the one without the heads that are off. */
  readonly #open = new Map<string, { readonly off: string; readonly inside: Promise<Inside> }>();

  find(question: Question): Reading | undefined {
    return this.#known.get(keyOf(question));
  }

  async read(question: Question, engine: Engine): Promise<void> {
    const { kind, ids, asked, off } = question;
    const name = `${kind} ${off.length > 0}`;
    const before = this.#open.get(name);
    const isSame = before?.off === String(off);
    if (!isSame) void before?.inside.then((inside) => inside.dispose()).catch(() => {});
    const opened = isSame ? before : { off: String(off), inside: open(question, engine) };
    this.#open.set(name, opened);
    try {
      const reading = await (await opened.inside).read(ids, asked);
      const [oldest] = this.#known.keys();
      if (this.#known.size >= MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
      this.#known.set(keyOf(question), reading);
    } catch (error) {
      this.#open.delete(name);
      throw error;
    }
  }
}

const keyOf = ({ kind, ids, asked, off }: Question): string => `${kind} ${ids} ${asked} ${off}`;

async function open({ kind, off }: Question, engine: Engine): Promise<Inside> {
  const [heed, { Inside, loadParameters, withoutHeads }] = await Promise.all([
    engine.started(),
    import("../../src/language/inside.js"),
  ]);
  return new Inside(kind, withoutHeads(await loadParameters(kind), kind, off), heed);
}
