// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { HeadsRoom } from "./room.js";
import { callsOf, readAnswers, sceneOf } from "./scene.js";
import { openHeadsStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/heads.css";

const store = openHeadsStore();
runRoom({
  store,
  sceneOf,
  callsOf,
  read: readAnswers,
  build: (scene) => new HeadsRoom(store, find("#room", HTMLElement), scene),
  computedFrom: ["reason", "heads"],
});
