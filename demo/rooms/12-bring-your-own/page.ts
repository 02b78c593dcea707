// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/room.js";
import { find } from "../../src/ui/dom.js";
import { bringRoom } from "./room.js";
import { callsOf, Library, prepare, readAnswers, scenesOf } from "./scene.js";
import { openBringStore } from "./state.js";
import "../../style/pixels.css";
import "../../style/bring.css";

const store = openBringStore();
const library = new Library();
runRoom({
  store,
  prepare: (state) => prepare(library, state),
  sceneOf: scenesOf(library),
  callsOf,
  read: readAnswers,
  // All else is where one looks.
  computedFrom: ["source", "brought", "tokens", "causal", "layer", "head", "row", "col"],
  build: (scene, engine) => bringRoom(store, library, find("#room", HTMLElement), scene, engine),
});
