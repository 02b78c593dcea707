// Puts the room's page together: the store, the engine, the room.

import { Engine } from "../../src/engine/engine.js";
import { startFrame } from "../../src/page/frame.js";
import { find } from "../../src/ui/dom.js";
import { callOf, type MaskAnswer, readAnswer } from "./call.js";
import { MaskRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openMaskStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/masks.css";

const store = openMaskStore();
const engine = new Engine();
let scene = sceneOf(store.state);
let answer: MaskAnswer | undefined;
const room = new MaskRoom(store, engine, find("#room", HTMLElement), scene);

function compute(): void {
  const asked = scene;
  engine.ask([callOf(asked)], ([found]) => {
    if (asked !== scene || found === undefined) return;
    answer = readAnswer(asked, found);
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
