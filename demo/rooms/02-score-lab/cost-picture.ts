// What each kind costs, counted; and timed on this device when somebody asks.

import type { Heed } from "heed";
import type { Expr } from "heed/expr";
import type { Engine } from "../../src/engine/engine.js";
import { fastest, randoms } from "../../src/engine/fastest.js";
import { LongWork } from "../../src/ui/controls.js";
import { h, heads, line, tableFrame } from "../../src/ui/dom.js";
import { exact, whole } from "../../src/ui/numbers.js";
import { picture } from "../../src/ui/picture.js";
import { ABOUT, KINDS, type Kind, RACED } from "./kinds.js";
import { optionsOf, type ScoreScene } from "./scene.js";

const [TOKENS, ROUNDS] = [1024, 4];

function race(heed: Heed, own: Expr, signal: AbortSignal, say: (text: string) => void) {
  const random = randoms(1 / 4);
  const vectors = () => random(1, 1, TOKENS, RACED);
  const [q, k, v, square] = [vectors(), vectors(), vectors(), random(RACED, RACED)];
  const gate = random(2 * RACED).data;
  const parameters = { w: square, wq: square, wk: square, gate, bandwidth: 2, keep: 8, own };
  const call = (kind: Kind) => heed.attention(q, k, v, { ...optionsOf(kind, parameters), signal });
  const calls = KINDS.map((kind) => [kind, () => call(kind)] as const);
  return fastest(calls, ROUNDS, say);
}

export function costPicture(engine: Engine, first: ScoreScene) {
  let scene = first;
  let times: ReadonlyMap<Kind, number> = new Map();
  const table = h("table", { class: "plain-table" });
  const work = new LongWork({
    name: "Time them on this device",
    run: async (signal, report) => {
      if (engine.heed === undefined) return "The kernels are not there yet.";
      times = await race(engine.heed, scene.own, signal, report);
      show(scene);
      return "Timed.";
    },
  });
  const { element, say } = picture({
    name: "cost",
    title: "What they cost",
    body: [tableFrame("What they cost", table), work.line()],
    data: () => ({ width: RACED, hidden: RACED, kinds: ABOUT, milliseconds: Object.fromEntries(times) }),
  });
  say(
    `Queries and keys have width ${RACED} here, so every score takes ${RACED} products a pair; the columns say what comes on top. Additive scores cannot use a matrix product, because of the tanh. Timed: ${whole(TOKENS)} queries and keys, best of four interleaved runs.`,
  );
  const show = (next: ScoreScene): void => {
    scene = next;
    const base = times.get("scaled-dot") ?? Number.NaN;
    const lines = KINDS.map((kind) => {
      const { name, beside = "–", once = "–" } = ABOUT[kind];
      const time = times.get(kind);
      const timed = time === undefined ? [] : [exact(time, 1), exact(time / base, 2)];
      const row = line(name, [...timed, beside, once], kind === scene.state.kind ? "own" : undefined);
      row.dataset["kind"] = kind;
      return row;
    });
    const names = times.size === 0 ? [] : ["time, ms", "over scaled dot’s"];
    table.replaceChildren(
      heads("", ...names, "more for each pair", "multiply-adds for each vector"),
      h("tbody", {}, ...lines),
    );
  };
  return { element, show };
}
