// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, readAnswers } from "./calls.js";
import { scaleRoom } from "./room.js";
import { prepare, sceneOf } from "./scene.js";
import { openScaleStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/scale.css";

const store = openScaleStore();
runRoom({
  store,
  prepare,
  sceneOf,
  callsOf,
  read: readAnswers,
  // Over what the curves run does not change the numbers.
  computedFrom: ["width", "keys", "scaling", "temperature", "likeness", "seed"],
  build: (scene) => scaleRoom(store, find("#room", HTMLElement), scene),
});
