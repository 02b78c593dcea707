// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { callOf, readAnswer } from "./call.js";
import { MaskRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openMaskStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/masks.css";

const store = openMaskStore();
runRoom({
  store,
  sceneOf,
  callsOf: (scene) => [callOf(scene)],
  read: (scene, [found]) => (found === undefined ? undefined : readAnswer(scene, found)),
  build: (scene, engine) => new MaskRoom(store, find("#room", HTMLElement), scene, engine),
});
