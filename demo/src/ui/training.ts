// Training that can be stopped, with every moment of it to go back to: a button, a scrubber, and the curve of the loss. What was seen of each
// kind is kept, and what an address names is trained again.

import type { Heed } from "heed";
import type { Engine } from "../engine/engine.js";
import { LongWork, slider } from "./controls.js";
import { h } from "./dom.js";
import { HeedChart, type Series } from "./heed-chart.js";
import { exact } from "./numbers.js";
import { drawn } from "./pieces.js";

/** The model after so many steps. */
export type Moment = Readonly<Record<"step" | "loss", number>>;

export interface Run<Kind extends string> {
  readonly heed: Heed;
  readonly kind: Kind;
  readonly signal: AbortSignal;
}

/** What a training that looks before a step is given. */
interface Watch<Look> {
  readonly onLook: (look: Look) => Promise<void>;
  readonly onStep: (step: Moment) => void;
}

/**
 * Trains one, or two that go on in turns from look to look, so that both losses fall before one's eyes and no two steps are in memory at
 * once. Hands over the looks of all after as many steps, with the losses of these, which are those of the models before them.
 */
export async function inTurns<Look extends { readonly step: number }, Trained>(
  runs: readonly ((watch: Watch<Look>) => Promise<Trained>)[],
  seen: (looks: readonly (Look & Moment)[]) => void,
): Promise<readonly Trained[]> {
  const looks: (Look & Moment)[] = [];
  let waiting: (() => void) | undefined;
  let isAlone = runs.length === 1;
  /** Waits until the other passes, or has ended. */
  const pass = (): Promise<void> =>
    new Promise((go) => {
      const other = waiting;
      waiting = go;
      if (isAlone) go();
      else other?.();
    });
  const ended = await Promise.allSettled(
    runs.map(async (run, index) => {
      let last: Look | undefined;
      const onLook = (look: Look): Promise<void> => {
        last = look;
        return pass();
      };
      const onStep = ({ step, loss }: Moment): void => {
        if (last?.step !== step) return;
        looks[index] = { ...last, loss };
        if (runs.every((_, other) => looks[other]?.step === step)) seen(looks);
      };
      try {
        return await run({ onLook, onStep });
      } finally {
        isAlone = true;
        waiting?.();
      }
    }),
  );
  return ended.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

interface Chosen<Kind extends string> {
  readonly kind: Kind;
  readonly step: number;
  /** Steps between two moments, and how many are trained before the last of them. */
  readonly every: number;
  readonly steps: number;
}

interface Course<Kind extends string, Seen extends Moment> {
  readonly engine: Engine;
  readonly learn: (run: Run<Kind>, seen: (moment: Seen) => void) => Promise<void>;
  /** Follows the training, whose time it does not count in. */
  readonly after?: (signal: AbortSignal) => Promise<void>;
  /** What is to be trained, and the step that is shown; asked each time. */
  readonly chosen: () => Chosen<Kind>;
  /** Shows another step. */
  readonly go: (step: number) => void;
  /** The curves, of which an empty one is not shown; `values`: the steps of all moments that are to come. */
  readonly series: (moments: readonly Seen[], values: readonly number[]) => readonly Series[];
  readonly mostLoss: number;
  /** There is something new to show: all at once, or piece by piece, a frame for each. */
  readonly changed: () => Iterable<unknown>;
}

export class Training<Kind extends string, Seen extends Moment> {
  readonly chart = new HeedChart();
  readonly work = new LongWork({
    name: "Train",
    look: "button primary",
    run: (signal, say) => this.#train(signal, say),
  });
  /** Asks for a curve before there is one, and says how far it was off. */
  readonly hint = h("p", { class: "small-label", role: "status" });
  readonly slider = slider("Step", { least: 0, most: 1, step: 1 }, (step) => this.#course.go(step));
  readonly #course: Course<Kind, Seen>;
  /** Finished or not. */
  readonly #seen = new Map<Kind, readonly Seen[]>();
  /** The curve that somebody expected, drawn before training. */
  readonly #expected = new Map<Kind, number[]>();
  #drawnLast = 0;
  #running: Kind | undefined;

  constructor(course: Course<Kind, Seen>) {
    this.#course = course;
    this.chart.choose = (index) => {
      const step = this.moments[index]?.step;
      if (step !== undefined) course.go(step);
    };
  }

  /** All that lies between two moments of the pointer is drawn as well; what is not drawn yet goes on as it ends. */
  #expect(index: number, value: number): void {
    const { kind, every, steps } = this.#course.chosen();
    const before = this.#expected.get(kind);
    const curve = before ?? Array.from({ length: steps / every + 1 }, () => value);
    const from = before === undefined ? 0 : this.#drawnLast;
    const [start = value, way] = [curve[from], Math.abs(index - from)];
    for (let at = 1; at <= way; at++) curve[from + Math.sign(index - from) * at] = start + ((value - start) * at) / way;
    if (index > from) curve.fill(value, index);
    this.#drawnLast = index;
    this.#expected.set(kind, curve);
    this.draw();
  }

  #hinted({ kind, every }: Chosen<Kind>): string {
    const expected = this.#expected.get(kind);
    if (this.moments.length === 0)
      return expected === undefined
        ? "Draw how the loss will fall, before you train."
        : "Now train, and the real one grows over yours.";
    if (expected === undefined || this.#running !== undefined) return "";
    const gaps = this.moments.map(({ step, loss }) => Math.abs(loss - (expected[Math.round(step / every)] ?? loss)));
    return `Your curve was off by ${exact(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length, 2)} on average.`;
  }

  /** Something else is to be watched: what was seen is of no use. */
  forget(kind: Kind): void {
    this.#seen.delete(kind);
  }

  get moments(): readonly Seen[] {
    return this.#seen.get(this.#course.chosen().kind) ?? [];
  }

  /** What was trained last, but for what is shown. */
  get before(): readonly [kind: Kind, moments: readonly Seen[]] | undefined {
    const { kind } = this.#course.chosen();
    return Array.from(this.#seen)
      .filter(([other]) => other !== kind)
      .at(-1);
  }

  /** The moment that is shown; undefined before any training. */
  get moment(): Seen | undefined {
    return this.moments[this.#cursor];
  }

  get #cursor(): number {
    const { kind, step, every } = this.#course.chosen();
    const last = this.moments.length - 1;
    return this.#running === kind ? last : Math.min(Math.round(step / every), last);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  lastOf(kind: Kind): number {
    return this.#seen.get(kind)?.at(-1)?.step ?? 0;
  }

  /** After something else was chosen, or another step. */
  follow(): void {
    const { kind, step } = this.#course.chosen();
    if (this.#running !== undefined && this.#running !== kind) void this.work.press();
    else if (step > 0 && this.moments.length === 0) void this.#again(kind, step);
  }

  /** An address names a step of a training that this page has yet to do again, as soon as there is an engine. */
  async #again(kind: Kind, step: number): Promise<void> {
    await this.#course.engine.opened;
    if (this.work.isRunning || this.#seen.has(kind)) return;
    await this.work.press();
    if (this.lastOf(kind) >= step && this.#course.chosen().kind === kind) this.#course.go(step);
  }

  async #train(signal: AbortSignal, say: (text: string) => void): Promise<string> {
    const { engine, chosen, changed, learn, after } = this.#course;
    const heed = await engine.started();
    const { kind, steps } = chosen();
    const moments: Seen[] = [];
    this.#seen.delete(kind);
    this.#seen.set(kind, moments);
    this.#running = kind;
    let isDrawing = false;
    const draw = async (): Promise<void> => {
      if (isDrawing) return;
      isDrawing = true;
      await drawn();
      if (this.#running !== undefined) await inFrames(changed());
      isDrawing = false;
    };
    const begun = performance.now();
    let seconds = 0;
    try {
      const seen = (moment: Seen): void => {
        moments.push(moment);
        say(`Step ${moment.step} of ${steps}`);
        void draw();
      };
      await learn({ heed, kind, signal }, seen);
      seconds = (performance.now() - begun) / 1000;
      await after?.(signal);
    } finally {
      if (chosen().kind === kind) this.#course.go(this.lastOf(kind));
      this.#running = undefined;
      await inFrames(changed());
    }
    return `${steps} steps in ${exact(seconds, 1)} s.`;
  }

  draw(): void {
    const step = this.moment?.step ?? 0;
    this.slider.limit(this.moments.at(-1)?.step ?? 1);
    this.slider.enable(this.moments.length > 0 && this.#running === undefined);
    this.slider.show(step, String(step));
    const { chosen, series, mostLoss } = this.#course;
    const now = chosen();
    const { kind, every, steps } = now;
    // The table behind the curve says what there is; the axis has room for what is to come.
    const values = Array.from({ length: steps / every + 1 }, (_, index) => index * every);
    const ticks = values.filter((_, index) => index % ((values.length - 1) / 5) === 0);
    const expected = this.#expected.get(kind) ?? [];
    this.chart.draws = this.moments.length > 0 ? undefined : (index, value) => this.#expect(index, value);
    this.hint.textContent = this.#hinted(now);
    this.chart.show({
      label: "Loss against the step of training",
      x: { name: "step", values, log: false, ticks },
      y: { name: "loss", most: mostLoss },
      series: [
        ...series(this.moments, values),
        { name: "your curve", values: expected, tone: "key", dashed: true } as const,
      ].filter((one) => one.values.length > 0),
      cursor: Math.max(0, this.#cursor),
    });
  }
}

async function inFrames(pieces: Iterable<unknown>): Promise<void> {
  for (const _ of pieces) await drawn();
}
