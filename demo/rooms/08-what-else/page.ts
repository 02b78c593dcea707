// Puts the room's page together: the store, the engine, the room.

import { Engine } from "../../src/engine/engine.js";
import { startFrame } from "../../src/page/frame.js";
import { find } from "../../src/ui/dom.js";
import { WhatElseRoom } from "./room.js";
import { openWhatElseStore } from "./state.js";
// After the frame, whose styles a room refines.
import "../../style/masks.css";
import "../../style/pixels.css";
import "../../style/what-else.css";

const store = openWhatElseStore();
const engine = new Engine();
const room = new WhatElseRoom(store, find("#room", HTMLElement));
let asked = 0;

/** A state that asks nothing new leaves an answer that is under way to come. */
function show(): void {
  const { view } = store.state;
  const calls = room.show(store.state);
  if (calls.length === 0) return;
  const question = ++asked;
  engine.ask(calls, (answers) => {
    if (question === asked) room.answer(view, answers);
  });
}

store.listen(show);
startFrame(engine);
show();
void engine.open();
