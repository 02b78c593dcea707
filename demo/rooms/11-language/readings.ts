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
  readonly #open = new Map<Kind, Promise<Inside>>();

  find(question: Question): Reading | undefined {
    return this.#known.get(keyOf(question));
  }

  async read(question: Question, engine: Engine): Promise<void> {
    const { kind, ids, asked, off } = question;
    const opened = this.#open.get(kind) ?? open(kind, engine);
    this.#open.set(kind, opened);
    const reading = await opened
      .then((inside) => inside.read(ids, asked, off))
      .catch((error: unknown) => {
        // Next time with a new one.
        this.#open.delete(kind);
        throw error;
      });
    const [oldest] = this.#known.keys();
    if (this.#known.size >= MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(keyOf(question), reading);
  }
}

const keyOf = ({ kind, ids, asked, off }: Question): string => `${kind} ${ids} ${asked} ${off}`;

async function open(kind: Kind, engine: Engine): Promise<Inside> {
  const [heed, { Inside, loadParameters }] = await Promise.all([
    engine.started(),
    import("../../src/language/inside.js"),
  ]);
  return new Inside(kind, await loadParameters(kind), heed);
}
