// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, readAnswers } from "./calls.js";
import { scoreRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openScoreStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/scores.css";

const store = openScoreStore();
runRoom({
  store,
  sceneOf,
  callsOf,
  read: readAnswers,
  build: (scene, engine) => scoreRoom(store, find("#room", HTMLElement), scene, engine),
});
