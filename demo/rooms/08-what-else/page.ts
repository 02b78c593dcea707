// Room 8, what else attention is: a convolution, a dense layer, an operation on a set, messages on a graph; and how far it reaches.

import type { Answer } from "../../src/engine/engine.js";
import { withBlock } from "../../src/model/matrix.js";
import { GUESSES } from "../../src/page/guesses.js";
import { type BuiltRoom, OWN_ARITHMETIC, type RoomContext, tellingRoom } from "../../src/page/room.js";
import { heedProgram, heedTensor, torchProgram, torchTensor } from "../../src/ui/code.js";
import { boundChoice } from "../../src/ui/controls.js";
import { h } from "../../src/ui/dom.js";
import { guess } from "../../src/ui/guess.js";
import { byChoice } from "../../src/ui/named-matrices.js";
import { picture } from "../../src/ui/picture.js";
import { convolutionExhibit, prepare } from "./convolution-exhibit.js";
import { LINES, type MatrixName, type Scene, type Shown } from "./exhibit.js";
import { graphExhibit } from "./graph-exhibit.js";
import { gallery } from "./images.js";
import { layerExhibit } from "./layer-exhibit.js";
import { reachExhibit } from "./reach-exhibit.js";
import { setExhibit } from "./set-exhibit.js";
import { COMPUTED_FROM, store, VIEWS, type ViewName } from "./state.js";
import "../../style/pixels.css";
import "../../style/what-else.css";

const NAMES: Readonly<Record<ViewName, string>> = {
  convolution: "a convolution",
  layer: "a dense layer",
  set: "for sets",
  graph: "message passing",
  reach: "far-reaching",
};
const EXHIBITS = {
  convolution: convolutionExhibit(),
  layer: layerExhibit(),
  set: setExhibit(),
  graph: graphExhibit(),
  reach: reachExhibit(),
};
/** What is typed into a matrix. */
const TYPED = { W: "filter", X: "inputs", Wd: "weights", H: "messages" } as const;

let shown: Shown | undefined;

function whatElseRoom(room: RoomContext<Scene, readonly Answer[], MatrixName>): BuiltRoom<MatrixName> {
  const { matrices } = room;
  const framed = VIEWS.map((view) => {
    const { below, picture: parts } = EXHIBITS[view];
    const [figures, drawer] = [h("dl", { class: "figures" }), h("div", { class: "numbers" })];
    const [body, more] = [
      [...parts.body, figures],
      [...(parts.more ?? []), drawer],
    ];
    const { element, say } = picture({ ...parts, body, more, data: () => shown?.data });
    return { view, figures, drawer, say, all: h("div", {}, element, ...(below === undefined ? [] : [below])) };
  });
  const ofPictures = gallery();
  const numbers = h("div", {}, ...LINES.map((names) => matrices.line(...names)));

  function* showRest(): Generator<undefined> {
    const now = framed.find(({ view }) => view === room.scene.state.view);
    yield;
    // What is put where it stands already would lose the focus.
    if (now?.drawer.contains(numbers) === false) now.drawer.append(ofPictures, numbers);
    ofPictures.hidden = now?.view !== "convolution" && now?.view !== "set";
    matrices.showAll(shown?.views ?? {});
    now?.figures.replaceChildren(...(shown?.figures ?? []));
    now?.say(shown?.text ?? "");
  }
  return {
    above: [boundChoice(store, "view", "Attention is", NAMES, { entry: "new" })],
    pictures: framed.map(({ all }) => all),
    menu: [byChoice(store, "vector")],
    guess: guess("what-else", GUESSES["what-else"], () => store.change({ view: "convolution" }, "new")),
    first: () => shown?.first,
    explain: (spot) => shown?.explain?.(spot),
    explainOther: ({ name }) => (name === "pixel" ? shown?.explainPixel?.() : undefined),
    edit: (name, row, col, values) => {
      const field = Object.entries(TYPED).find(([typed]) => typed === name)?.[1];
      if (field !== undefined) store.change({ [field]: withBlock(store.state[field], row, col, values) });
    },
    show: () => {
      for (const { view, all } of framed) all.hidden = view !== room.scene.state.view;
      shown = room.scene.show(room.answer);
    },
    showRest,
  };
}

function codeOf(kind: "heed" | "torch") {
  const [program, tensor] = kind === "heed" ? [heedProgram, heedTensor] : [torchProgram, torchTensor];
  return ({ programs }: Scene): string => {
    const { about, tensors = {}, ...bodies } = programs();
    const [body, print] = bodies[kind];
    const begin = Object.entries(tensors).map(([name, [heads, shape]]) => tensor(name, heads, shape));
    return program(about, [...begin, body].join("\n"), print);
  };
}

tellingRoom({
  store,
  prepare,
  sceneOf: (state) => EXHIBITS[state.view].sceneOf(state),
  kernel: {
    callsOf: ({ calls }) => calls,
    read: (_, answers) => answers,
    said: (answers, { calls }) => (answers === undefined && calls.length > 0 ? OWN_ARITHMETIC : (shown?.agreed ?? "")),
    computedFrom: COMPUTED_FROM,
  },
  code: { heed: codeOf("heed"), torch: codeOf("torch") },
  matrices: LINES.flat(),
  build: whatElseRoom,
});
