// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, readAnswers } from "./calls.js";
import { translationRoom } from "./room.js";
import { openTranslationStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/translation.css";

const store = openTranslationStore();
runRoom({
  store,
  sceneOf: (state) => state,
  callsOf,
  read: (_, answers) => readAnswers(answers),
  // Networks that were loaded have an engine's answers of their own.
  computedFrom: [],
  build: (_, engine) => translationRoom(store, engine, find("#room", HTMLElement)),
});
