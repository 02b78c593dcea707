// Measures participants at one problem. Each is prepared, checked and warmed up alone; then a round takes one sample of each, so that
// other load of the machine slows all of them alike.

import { isModel, isPeak, JUDGE } from "./participants.js";
import { reasonOf } from "./reason.js";
import { summarise } from "./summary.js";

/** @typedef {import("./participants.js").Participant} Participant */
/** @typedef {import("../pages/peer.js").Problem} Problem */
/** @typedef {import("../pages/peer.js").Model} Model */
/** @typedef {import("./summary.js").Summary} Summary */

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {number | null} ms its samples in one number, milliseconds a call
 * @property {number | null} rate the samples of a peak loop in one number, work a second
 * @property {readonly number[]} samples
 * @property {number | null} error largest difference from heed/reference
 * @property {number | null} firstMs its first call, compilation and all
 * @property {number | null} prepareMs
 * @property {string | null} failure why there is no more
 */

/**
 * @typedef {object} Pace
 * @property {number} rounds samples of each, unless calls are long
 * @property {number} budgetMs what one participant may take for its samples at one problem
 * @property {Summary} summary which number stands for the samples
 * @property {number} patienceMs longer calls are sampled once, or not at all
 */

/** A sample lasts at least this long, or timers and promises would be in it. */
const SAMPLE_MS = 12;
/** Engines replace baseline code in the background, after some calls. */
const WARM_UP_MS = 150;
/** A shorter call is preceded by an untimed one, which wakes the workers that slept while others computed. */
const LEAD_IN_MS = 60;
const FEWEST_SAMPLES = 3;

/**
 * @param {import("./stage.js").Stage} stage
 * @param {Problem | Model} problem
 * @param {readonly Participant[]} participants
 * @param {Pace} pace
 * @returns {Promise<Result[]>}
 */
export async function measure(stage, problem, participants, pace) {
  const verdicts = "layers" in problem ? () => null : await judge(stage, problem, participants);
  const measurements = participants.map((one) => new Measurement(stage, one));
  for (const one of measurements) await one.start(problem, verdicts(one.participant), pace);
  for (let round = 0; round < pace.rounds; round++) {
    // The order rotates, so that no participant always follows the same one.
    const first = round % measurements.length;
    const order = [...measurements.slice(first), ...measurements.slice(0, first)];
    for (const one of order) await one.sample(round);
  }
  for (const one of measurements) await one.stop();
  return measurements.map((one) => one.result(pace.summary));
}

/**
 * The exact results that outputs are compared with, one for every addition (a mask or a bias) that participants are given.
 * @param {import("./stage.js").Stage} stage
 * @param {Problem} problem
 * @param {readonly Participant[]} participants
 */
async function judge(stage, problem, participants) {
  /** @param {Participant} one */
  const additionOf = ({ options }) => (options.with === "weights" ? undefined : options.with);
  /** @typedef {import("../pages/additions.js").Addition} Addition */
  /** @type {Map<string | undefined, import("../pages/judge.js").Verdict>} */
  const verdicts = new Map();
  for (const addition of new Set(participants.filter((one) => !isPeak(one) && !isModel(one)).map(additionOf))) {
    const asked = /** @type {Addition | "backward" | undefined} */ (addition);
    verdicts.set(addition, await stage.ask(JUDGE, "judge", problem, asked ?? null));
  }
  return (/** @type {Participant} */ one) => verdicts.get(additionOf(one)) ?? null;
}

/** The measurement of one participant at one problem. */
class Measurement {
  #stage;
  #calls = 1;
  #before = 0;
  #wanted = 0;
  /** @type {number[]} */
  #samples = [];
  /** @type {{ prepareMs: number | null, firstMs: number | null, error: number | null, failure: string | null }} */
  #found = { prepareMs: null, firstMs: null, error: null, failure: null };

  /** @param {import("./stage.js").Stage} stage @param {Participant} participant */
  constructor(stage, participant) {
    this.#stage = stage;
    this.participant = participant;
  }

  /**
   * @param {Problem | Model} problem
   * @param {import("../pages/judge.js").Verdict | null} verdict
   * @param {Pace} pace
   */
  async start(problem, verdict, pace) {
    await this.#trying(async () => {
      this.#found.prepareMs = await this.#stage.ask(this.participant, "prepare", problem);
      this.#wanted = pace.rounds;
      if (isPeak(this.participant)) {
        await this.#stage.ask(this.participant, "rate");
        return;
      }
      const { ms, error } = await this.#stage.ask(this.participant, "check", verdict);
      this.#found.firstMs = ms;
      this.#found.error = error;
      const warm = await this.#warmUp(ms);
      this.#calls = Math.max(1, Math.ceil(SAMPLE_MS / warm));
      this.#before = warm < LEAD_IN_MS ? 1 : 0;
      const affordable = Math.floor(pace.budgetMs / (warm * (this.#calls + this.#before)));
      const fewest = warm > pace.patienceMs ? 1 : FEWEST_SAMPLES;
      this.#wanted = Math.min(pace.rounds, Math.max(fewest, affordable));
    });
  }

  /** Milliseconds of a call once it is warm. @param {number} first */
  async #warmUp(first) {
    if (first > 6 * WARM_UP_MS) return first;
    let ms = first;
    for (let spent = 0; spent < WARM_UP_MS; ) {
      const calls = Math.max(1, Math.ceil(SAMPLE_MS / ms));
      ms = await this.#stage.ask(this.participant, "sample", calls, 0);
      spent += Math.max(ms * calls, 1);
    }
    return ms;
  }

  /** @param {number} round */
  async sample(round) {
    if (round >= this.#wanted) return;
    await this.#trying(async () => {
      const taken = isPeak(this.participant)
        ? await this.#stage.ask(this.participant, "rate")
        : await this.#stage.ask(this.participant, "sample", this.#calls, this.#before);
      this.#samples.push(taken);
    });
  }

  async stop() {
    await this.#trying(() => this.#stage.ask(this.participant, "release"));
  }

  /** @param {Summary} summary @returns {Result} */
  result(summary) {
    const isRate = isPeak(this.participant);
    const figure = this.#samples.length === 0 ? null : summarise(this.#samples, summary, isRate);
    return {
      name: this.participant.name,
      ms: isRate ? null : figure,
      rate: isRate ? figure : null,
      samples: this.#samples,
      ...this.#found,
    };
  }

  /** A participant that fails is out for this problem; its page may be in any state. @param {() => Promise<void>} work */
  async #trying(work) {
    if (this.#found.failure !== null) return;
    try {
      await work();
    } catch (error) {
      this.#wanted = 0;
      this.#found.failure = reasonOf(error);
      await this.#stage.close(this.participant);
    }
  }
}
