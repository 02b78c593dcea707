// Runs a room: a scene of every state of its store, shown at once, and the kernel's answer to it as soon as there is one. Only the first
// scene is made and shown with pauses.

import { WHAT_IS_TYPED } from "heed/viz";
import { type Answer, type Call, Engine } from "../engine/engine.js";
import type { Store } from "../model/store.js";
import { find, h } from "../ui/dom.js";
import { inPieces, pause } from "../ui/pieces.js";
import { startPage } from "./start-page.js";

export interface Room<Scene, Answered> {
  readonly show: (scene: Scene, answered: Answered | undefined) => void;
  /** The same, where it is too much to be done at a time. */
  readonly showing?: (scene: Scene, answered: Answered | undefined) => Iterable<unknown>;
}

interface RoomParts<State extends object, Scene, Answered> {
  readonly store: Store<State>;
  /** What scenes are made of and keep, where that takes long. */
  readonly prepare?: (state: State) => Iterable<unknown>;
  readonly sceneOf: (state: State) => Scene;
  readonly callsOf: (scene: Scene) => readonly Call[];
  readonly read: (scene: Scene, answers: readonly Answer[]) => Answered | undefined;
  readonly build: (scene: Scene, engine: Engine) => Room<Scene, Answered>;
  /** What the calls depend on. Default: all of the state. */
  readonly computedFrom?: readonly (keyof State)[];
}

export function runRoom<State extends object, Scene, Answered>(parts: RoomParts<State, Scene, Answered>): void {
  const engine = new Engine();
  tellOfTooLarge(parts.store);
  startPage(engine, find("[data-room]", HTMLElement), () => fill(parts, engine));
}

/** Says that an address held larger numbers than can be typed, until something is changed. */
function tellOfTooLarge<S extends object>(store: Store<S>): void {
  const text = `This address holds larger numbers than this page takes; they were cut to its bounds. ${WHAT_IS_TYPED}`;
  const said = h("p", { class: "warning", role: "status" });
  find("#warning", HTMLElement).after(said);
  const show = (): void => {
    said.hidden = !store.wasTooLarge;
    said.textContent = store.wasTooLarge ? text : "";
  };
  store.listen(show);
  show();
}

async function fill<State extends object, Scene, Answered>(
  parts: RoomParts<State, Scene, Answered>,
  engine: Engine,
): Promise<void> {
  const { store, prepare, sceneOf, callsOf, read, build, computedFrom } = parts;
  if (prepare !== undefined) await inPieces(prepare(store.state));
  let { state } = store;
  let scene = sceneOf(state);
  await pause();
  const room = build(scene, engine);
  let answered: Answered | undefined;
  let question = 0;
  let shown = 0;

  const show = (): void => {
    shown += 1;
    room.show(scene, answered);
  };
  const compute = (): void => {
    const asked = { scene, question: ++question };
    answered = undefined;
    engine.ask(callsOf(scene), (answers) => {
      if (asked.question !== question) return;
      answered = read(asked.scene, answers);
      show();
    });
  };
  const change = (next: State): void => {
    const before = state;
    state = next;
    scene = sceneOf(state);
    if (computedFrom === undefined || computedFrom.some((key) => state[key] !== before[key])) compute();
    show();
  };

  store.listen(change);
  await pause();
  if (store.state !== state) change(store.state);
  else if (room.showing === undefined) show();
  else await inPieces(room.showing(scene, undefined), () => shown > 0);
  await pause();
  if (question === 0) compute();
}
