// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, readAnswers } from "./calls.js";
import { learningRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openLearningStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/learning.css";

const store = openLearningStore();
runRoom({
  store,
  sceneOf,
  callsOf,
  read: readAnswers,
  // What is trained has an engine's answers of its own.
  computedFrom: ["factor"],
  build: (scene, engine) => learningRoom(store, engine, find("#room", HTMLElement), scene),
});
