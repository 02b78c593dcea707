// Puts the room's page together: the store, the engine, the room.

import { Engine } from "../../src/engine/engine.js";
import { startFrame } from "../../src/page/frame.js";
import { find } from "../../src/ui/dom.js";
import { callsOf, readAnswers, type ScoreAnswer } from "./calls.js";
import { ScoreRoom } from "./room.js";
import { sceneOf } from "./scene.js";
import { openScoreStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/scores.css";

const store = openScoreStore();
const engine = new Engine();
let scene = sceneOf(store.state);
let answer: ScoreAnswer | undefined;
const room = new ScoreRoom(store, find("#room", HTMLElement), scene, engine);

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
