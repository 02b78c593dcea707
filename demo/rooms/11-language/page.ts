// Puts the room's page together: the store, what the models found, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, readAnswers } from "./calls.js";
import { Readings } from "./readings.js";
import { languageRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openLanguageStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/language.css";

const store = openLanguageStore();
const readings = new Readings();
runRoom({
  store,
  sceneOf: (state) => sceneOf(state, readings),
  callsOf,
  read: readAnswers,
  build: (scene, engine) => languageRoom({ store, engine, readings, root: find("#room", HTMLElement), scene }),
});
