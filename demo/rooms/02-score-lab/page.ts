// Room 2, score lab: one query and its keys on a plane that a score function colours; the numbers of all of them, costs and times.

import { bestOf, type Matrix, rowsOf, rowsOfAll, withBlock } from "../../src/model/matrix.js";
import { type Entry, Store } from "../../src/model/store.js";
import { GUESSES } from "../../src/page/guesses.js";
import { agreed, type BuiltRoom, OWN_ARITHMETIC, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { boundSlider, choice } from "../../src/ui/controls.js";
import { button, fact, h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { drawer, picture } from "../../src/ui/picture.js";
import { heedCode, torchCode } from "./code.js";
import { MOST_CHARACTERS } from "./formula.js";
import { ABOUT, COUNTED, KEYS, KINDS, type Kind } from "./kinds.js";
import { explain, MATRICES, type MatrixName, PARAMETERS, viewsOf } from "./matrices.js";
import { Plane } from "./plane.js";
import { callsOf, readAnswers, type ScoreAnswer, type ScoreScene, sceneOf } from "./scene.js";
import { BANDWIDTHS, INITIAL, SCORE_STATE, TEMPERATURES, TYPED, troubleWith } from "./state.js";
import "../../style/scores.css";

/** Weights that differ by less are the same in single precision. */
const SAME = 1e-6;
const COUNTS = { least: 1, most: KEYS, step: 1 };
const LIST = new Intl.ListFormat("en");

type Values = readonly (readonly number[])[];

const store = new Store(SCORE_STATE, ["kind"]);

function scoreRoom(room: RoomContext<ScoreScene, ScoreAnswer, MatrixName>): BuiltRoom<MatrixName> {
  const { matrices, teller } = room;
  /** Of the score in view. */
  const rowInView = (): number => KINDS.indexOf(store.state.kind);
  const edit = (name: string, row: number, col: number, values: Values, entry?: Entry): void => {
    const known = TYPED.find((one) => one === name);
    if (known !== undefined) store.change({ [known]: withBlock(store.state[known], row, col, values) }, entry);
  };
  const plane = new Plane((key, x, y) => {
    teller.point({ name: "A", row: rowInView(), col: Math.max(0, key) }, true);
    edit(key < 0 ? "q" : "K", Math.max(0, key), 0, [[x, y]], "run");
  });
  const kinds = KINDS.map((value) => ({ value, text: ABOUT[value].name }));
  const kind = choice<Kind>("Score", kinds, (chosen) => {
    teller.forget();
    store.change({ kind: chosen }, "new");
  });
  const reset = button("Reset", () => {
    store.hold(undefined);
    store.change({ ...INITIAL, kind: store.state.kind }, "new");
  });
  const formula = formulaField((value) => store.change({ formula: value }, "run"));
  const costs = h("dl", { class: "figures" });
  const lines = [
    ["q", "K"],
    ["W", "Wq", "Wk", "b", "v", "g"],
    ["S", "A"],
  ] as const;
  const lab = picture({
    name: "lab",
    title: "Where would a new key get attention?",
    body: [plane.board.element, costs],
    controls: [
      kind.element,
      boundSlider(store, "bandwidth", "Bandwidth b", BANDWIDTHS, { isThere: ({ kind }) => kind === "rbf" }),
      boundSlider(store, "keep", "Best k kept", COUNTS, { isThere: ({ kind }) => kind === "top-k" }),
      formula.element,
    ],
    more: [boundSlider(store, "temperature", "Temperature T", TEMPERATURES), reset],
    numbers: drawer("Numbers", ...lines.map((names) => matrices.line(...names))),
    data: () => {
      const { kind, temperature, bandwidth, keep, formula } = room.scene.state;
      const numbers = rowsOfAll(viewsOf(room.scene, room.answer));
      return { kind, temperature, bandwidth, keep, formula, kinds: KINDS, ...numbers };
    },
  });
  plane.show(room.scene, undefined);

  const show = (): void => {
    const { scene, answer } = room;
    const { state } = scene;
    kind.show(state.kind);
    formula.element.hidden = state.kind !== "own";
    formula.show(scene);
    plane.show(scene, answer);
    const shown = new Set<MatrixName>(["q", "K", "S", "A", ...(PARAMETERS[state.kind] ?? [])]);
    const views = viewsOf(scene, answer);
    matrices.show((one) => (shown.has(one) ? { name: one, ...views[one] } : undefined));
    lab.say(`${ABOUT[state.kind].about}${likenessText(scene, answer)}`);
    const { beside = "nothing", once = "nothing" } = ABOUT[state.kind];
    costs.replaceChildren(
      fact("A pair costs", `${COUNTED} products`, `at width ${COUNTED}; and besides: ${beside}`),
      fact("A vector costs, however many it meets", once, once === "nothing" ? "" : "multiply-adds"),
    );
  };
  return {
    guess: guess("score-lab", GUESSES["score-lab"], () => store.change({ ...INITIAL, kind: "dot" }, "new")),
    pictures: [lab],
    first: () => ({ name: "S", row: rowInView(), col: bestOf(room.scene.weights, rowInView()) }),
    explain: (spot) => explain(room.scene, spot, room.answer),
    // The row of the kind stays in the light.
    light: (lights) => matrices.light([...["A", "S"].map((name) => ({ name, row: rowInView() })), ...lights]),
    edit,
    show,
  };
}

/** Where one's own score is typed; says in words what cannot be read, while the last that could stays on the page. */
function formulaField(read: (formula: string) => void) {
  const plain = { type: "text", autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const about = { id: "formula", "aria-describedby": "formula-help formula-trouble" };
  const input = h("input", { ...plain, ...about, maxlength: MOST_CHARACTERS });
  const help =
    "Use score (scaled dot product / T), q and k (positions from 0; here q = 0), + − * / // % < <= == && || ! ? : and abs, exp, floor, log, max, min, sqrt, tanh, infinity.";
  const message = h("p", { class: "field-message", id: "formula-trouble", role: "status" });
  const say = (text: string, isWrong: boolean): void => {
    message.textContent = text;
    input.ariaInvalid = isWrong ? "true" : null;
  };
  /** What could be read last. */
  let known = "";
  input.addEventListener("input", () => {
    const trouble = troubleWith(input.value);
    if (trouble !== "") {
      say(`Cannot be read: ${trouble}. What could be read before is still shown.`, true);
      return;
    }
    say("", false);
    known = input.value;
    read(known);
  });
  const name = h("label", { for: "formula" }, "Your own score");
  return {
    element: h("div", { class: "field" }, name, input, h("small", { id: "formula-help" }, help), message),
    show({ state: { formula }, strange }: ScoreScene): void {
      // What cannot be read yet is still being typed.
      if (document.activeElement === input && formula === known && input.value !== formula) return;
      known = formula;
      input.value = formula;
      say(strange, false);
    },
  };
}

/** As given, the first key is the query itself and the second is three times as long. */
function likenessText({ state, weights }: ScoreScene, answer: ScoreAnswer | undefined): string {
  if (state.q !== INITIAL.q || state.K !== INITIAL.K) return "";
  const gives = givenBy(answer?.weights ?? weights, KINDS.indexOf(state.kind));
  return ` k1 equals q, and k2 is three times q: ${ABOUT[state.kind].name} gives ${gives}.`;
}

/** "k1 and k2 the most" */
function givenBy(weights: Matrix, row: number): string {
  const all = rowsOf(weights)[row] ?? [];
  const most = Math.max(...all);
  if (Number.isNaN(most)) return "no key a weight that is a number";
  if (most === 0) return "every key 0";
  const best = all.flatMap((weight, key) => (most - weight < SAME ? [`k${key + 1}`] : []));
  return best.length === all.length ? "every key the same" : `${LIST.format(best)} the most`;
}

function agreementOf(answer: ScoreAnswer | undefined, { strange }: ScoreScene): string {
  if (answer === undefined) return OWN_ARITHMETIC;
  const but = strange === "" ? "" : ", except for your own, whose scores are not all finite";
  return `${agreed("All weights", answer.apart).slice(0, -1)}${but}.`;
}

tellingRoom({
  store,
  sceneOf,
  kernel: { callsOf, read: readAnswers, said: agreementOf },
  code: { heed: heedCode, torch: torchCode },
  matrices: MATRICES,
  build: scoreRoom,
});
