// Puts the room's page together: the store, the engine, the room.

import { Engine } from "../../src/engine/engine.js";
import { startPage } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { atOnce, inPieces, pause } from "../../src/ui/pieces.js";
import { whatElseRoom } from "./room.js";
import { openWhatElseStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/masks.css";
import "../../style/pixels.css";
import "../../style/what-else.css";

const store = openWhatElseStore();
const engine = new Engine();
const place = find("#room", HTMLElement);
let asked = 0;

void startPage(engine, place, async () => {
  const room = whatElseRoom(store, place);
  await pause();
  let shown = 0;
  store.listen((state) => {
    shown += 1;
    atOnce(room.showing(state));
    ask(room);
  });
  await inPieces(room.showing(store.state), () => shown > 0);
  if (shown === 0) ask(room);
});

/** A state that asks nothing new leaves an answer that is under way to come. */
function ask(room: ReturnType<typeof whatElseRoom>): void {
  const { view } = store.state;
  const calls = room.calls();
  if (calls.length === 0) return;
  const question = ++asked;
  engine.ask(calls, (answers) => {
    if (question === asked) room.answer(view, answers);
  });
}
