// Puts the room together: the store, the engine, the sentence at the top, and the walk.

import { callsOf, type KernelAnswer, readAnswer } from "../../src/engine/walk-call.js";
import { openWalkStore } from "../../src/model/url.js";
import { type Walk, walk } from "../../src/model/walk.js";
import { SentenceInput } from "../../src/page/input.js";
import { runRoom } from "../../src/page/run-room.js";
import { Stage } from "../../src/page/stage.js";
import { find } from "../../src/ui/dom.js";
import { atOnce } from "../../src/ui/pieces.js";
import { MatrixWalk } from "./room.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/stage.css";
import "../../style/walk.css";

const store = openWalkStore();
const places = { input: find("#input", HTMLElement), stage: find("#stage", HTMLElement) };
const stage = new Stage(store, places.stage);
const input = new SentenceInput(store, places.input);

runRoom({
  store,
  sceneOf: walk,
  callsOf: (now) => callsOf(now, store.state),
  read: (asked, [found]) => (found === undefined ? undefined : readAnswer(asked, found)),
  // All else in the state only decides what is looked at.
  computedFrom: ["text", "numbers", "width", "heads", "scale", "causal", "asking", "hidden", "edited"],
  build: (first) => {
    const room = new MatrixWalk(store, find("#room", HTMLElement), first, Object.values(places));
    function* showing(now: Walk, answer: KernelAnswer | undefined): Generator<undefined> {
      const { head } = store.state;
      stage.show(now, (answer?.heads[head] ?? now.heads[head])?.weights);
      yield;
      input.show(store.state, now);
      yield;
      room.show(now, answer);
    }
    return { showing, show: (now, answer) => atOnce(showing(now, answer)) };
  },
});
