// Puts the room's page together: the store, the engine, the room.

import { runRoom } from "../../src/page/run-room.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, readAnswers } from "./calls.js";
import { OrderRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openOrderStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/order.css";

const store = openOrderStore();
runRoom({
  store,
  sceneOf,
  callsOf,
  read: readAnswers,
  build: (scene) => new OrderRoom(store, find("#room", HTMLElement), scene),
});
