// The page's side of the bench: it opens the participant that its address names, and times it on request.

import type { Addition } from "./additions.js";
import { mostGpuBytes } from "./gpu-memories.js";
import { inputsOf } from "./inputs.js";
import { judge, type Verdict, worstError } from "./judge.js";
import { judgeBackward } from "./judge-backward.js";
// This import comes first, so that it sees every memory that is made.
import { memoryBytes } from "./memories.js";
import type { Learner, Model, Peak, Peer, Problem, Setup } from "./peer.js";

/** The interface of a module under peers/. */
interface PeerModule {
  open(setup: Setup): Promise<Opened>;
}

const address = new URLSearchParams(location.search);
type Opened = Peer | Peak | Learner;

let peer: Opened | null = null;
let problem: Problem | null = null;

function opened(): Opened {
  if (peer === null) throw new Error("the page was not opened");
  return peer;
}

function computing(): Peer | Learner {
  const one = opened();
  if ("rate" in one) throw new Error("a peak loop computes no attention");
  return one;
}

async function open(): Promise<Opened> {
  const module: PeerModule = await import(`./peers/${address.get("page")}.js`);
  peer = await module.open({
    threads: Number(address.get("threads")),
    options: JSON.parse(address.get("options") ?? "{}"),
  });
  return peer;
}

function attending(one: Opened): Peer | Peak {
  if ("losses" in one) throw new Error("a page that trains computes no attention alone");
  return one;
}

function learning(one: Opened): Learner {
  if ("losses" in one) return one;
  throw new Error("this page does not train");
}

async function millisecondsOf(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

const bench = {
  async open(): Promise<Readonly<Record<string, unknown>>> {
    return (await open()).about;
  },

  /** Milliseconds from the import of a library to its first output, in a page where no participant was opened. */
  async firstResult(given: Problem): Promise<number> {
    const inputs = inputsOf(given);
    return millisecondsOf(async () => {
      await attending(await open()).prepare(given, inputs);
      await computing().run();
    });
  },

  async prepare(given: Problem | Model): Promise<number> {
    const one = opened();
    if ("layers" in given) return millisecondsOf(() => learning(one).prepare(given));
    problem = given;
    const inputs = inputsOf(given);
    return millisecondsOf(() => attending(one).prepare(given, inputs));
  },

  /** The losses of all steps so far. */
  losses: (): readonly number[] => learning(opened()).losses,

  /** The exact output or gradients of some rows, by heed/reference. */
  judge: (given: Problem, asked: Addition | "backward" | null): Verdict =>
    asked === "backward" ? judgeBackward(given) : judge(given, asked),

  /** Makes one call: its milliseconds, and its largest difference from the exact output. */
  async check(verdict: Verdict | null): Promise<{ ms: number; error: number | null }> {
    const one = computing();
    const start = performance.now();
    const output = await one.run();
    const ms = performance.now() - start;
    if (verdict === null) return { ms, error: null };
    if (problem === null || output === undefined || !("layout" in one)) throw new Error("nothing was prepared");
    return { ms, error: worstError([output].flat(), one.layout, problem, verdict) };
  },

  /** Milliseconds a call, over `calls` calls after `before` untimed ones. */
  async sample(calls: number, before: number): Promise<number> {
    const one = computing();
    for (let i = 0; i < before; i++) await one.run();
    const start = performance.now();
    for (let i = 0; i < calls; i++) await one.run();
    return (performance.now() - start) / calls;
  },

  /** Work a second of a peak loop. */
  async rate(): Promise<number> {
    const one = opened();
    if (!("rate" in one)) throw new Error("only a peak loop has a rate");
    return one.rate();
  },

  async release(): Promise<void> {
    const one = opened();
    if (!("rate" in one)) await one.release();
  },

  memoryBytes,
  mostGpuBytes,
};

export type Bench = typeof bench;
Object.assign(window, { bench });
