// Puts the room's page together: the store, the engine, the room.

import { Engine } from "../../src/engine/engine.js";
import { startFrame } from "../../src/page/frame.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, type OrderAnswer, readAnswers } from "./calls.js";
import { OrderRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openOrderStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/order.css";

const store = openOrderStore();
const engine = new Engine();
let scene = sceneOf(store.state);
let answer: OrderAnswer | undefined;
const room = new OrderRoom(store, find("#room", HTMLElement), scene);

function compute(): void {
  const asked = scene;
  engine.ask(callsOf(asked), (answers) => {
    if (asked !== scene) return;
    answer = readAnswers(asked, answers);
    room.show(scene, answer);
  });
}

store.listen((state) => {
  scene = sceneOf(state);
  answer = undefined;
  compute();
  room.show(scene, answer);
});

startFrame(engine);
compute();
room.show(scene, answer);
void engine.open();
