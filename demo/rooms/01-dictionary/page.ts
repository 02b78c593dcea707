// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, readAnswers } from "./calls.js";
import { dictionaryRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openDictionaryStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/dictionary.css";

const store = openDictionaryStore();
runRoom({
  store,
  sceneOf,
  callsOf,
  read: readAnswers,
  build: (scene) => dictionaryRoom(store, find("#room", HTMLElement), scene),
});
