// Puts the room's page together: the store, the engine, the room.

import { Engine } from "../../src/engine/engine.js";
import { callsOf, readAnswer } from "../../src/engine/walk-call.js";
import { startFrame } from "../../src/page/frame.js";
import { find } from "../../src/ui/dom.js";
import { HeadsRoom } from "./room.js";
import { answered, passesOf, sceneOf } from "./scene.js";
import { openHeadsStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/heads.css";

const store = openHeadsStore();
const engine = new Engine();
let scene = sceneOf(store.state);
const room = new HeadsRoom(store, find("#room", HTMLElement), scene);

function compute(): void {
  const asked = scene;
  const passes = passesOf(asked);
  engine.ask(
    passes.flatMap(({ walk, state }) => callsOf(walk, state)),
    (answers) => {
      if (asked !== scene) return;
      scene = answered(
        asked,
        answers.flatMap((answer, index) => {
          const pass = passes[index];
          return pass === undefined ? [] : [readAnswer(pass.walk, answer)];
        }),
      );
      room.show(scene);
    },
  );
}

store.listen((state) => {
  scene = sceneOf(state);
  compute();
  room.show(scene);
});

startFrame(engine);
compute();
room.show(scene);
void engine.open();
