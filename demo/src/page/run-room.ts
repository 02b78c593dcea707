// Runs a room: a scene of every state of its store, shown at once, and the kernel's answer to it as soon as there is one.

import { type Answer, type Call, Engine } from "../engine/engine.js";
import type { Store } from "../model/store.js";
import { startFrame } from "./frame.js";

export interface Room<Scene, Answered> {
  readonly show: (scene: Scene, answered: Answered | undefined) => void;
}

export interface RoomParts<State extends object, Scene, Answered> {
  readonly store: Store<State>;
  readonly sceneOf: (state: State) => Scene;
  readonly callsOf: (scene: Scene) => readonly Call[];
  readonly read: (scene: Scene, answers: readonly Answer[]) => Answered | undefined;
  readonly build: (scene: Scene, engine: Engine) => Room<Scene, Answered>;
  /** What the calls depend on. Default: all of the state. */
  readonly computedFrom?: readonly (keyof State)[];
}

export function runRoom<State extends object, Scene, Answered>(parts: RoomParts<State, Scene, Answered>): void {
  const { store, sceneOf, callsOf, read, build, computedFrom } = parts;
  const engine = new Engine();
  let scene = sceneOf(store.state);
  let answered: Answered | undefined;
  let question = 0;
  const room = build(scene, engine);

  const compute = (): void => {
    const asked = { scene, question: ++question };
    answered = undefined;
    engine.ask(callsOf(scene), (answers) => {
      if (asked.question !== question) return;
      answered = read(asked.scene, answers);
      room.show(scene, answered);
    });
  };

  store.listen((state, before) => {
    scene = sceneOf(state);
    if (computedFrom === undefined || computedFrom.some((key) => state[key] !== before[key])) compute();
    room.show(scene, answered);
  });

  startFrame(engine);
  compute();
  room.show(scene, answered);
  void engine.open();
}
