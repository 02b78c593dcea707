// Runs a room: a scene of every state of its store, shown at once, and the kernel's answer to it as soon as there is one. Only the first
// scene is made and shown with pauses: the room is filled unseen, then its parts are laid out one after the other, from top to bottom, and
// the engine is opened. So the page never freezes for long, and nothing jumps.

import { WHAT_IS_TYPED } from "heed/viz";
import { type Answer, type Call, Engine } from "../engine/engine.js";
import type { Store } from "../model/store.js";
import { find, h } from "../ui/dom.js";
import { drawn, inPieces, LAID_OUT, pause } from "../ui/pieces.js";
import { startFrame } from "./frame.js";
import { placeLeft } from "./kept.js";

interface Room<Scene, Answered> {
  readonly show: (scene: Scene, answered: Answered | undefined) => void;
  /** The same in pieces. */
  readonly showing: (scene: Scene, answered: Answered | undefined) => Iterable<unknown>;
}

export interface RoomParts<State extends object, Scene, Answered> {
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

export function runRoom<S extends object, Scene, A>(parts: RoomParts<S, Scene, A>): void {
  const { store, prepare, sceneOf, callsOf, read, build, computedFrom } = parts;
  const engine = new Engine();
  tellOfTooLarge(store);
  void startPage(engine, find("[data-room]", HTMLElement), async () => {
    if (prepare !== undefined) await inPieces(prepare(store.state));
    let { state } = store;
    let scene = sceneOf(state);
    await pause();
    const room = build(scene, engine);
    let answered: A | undefined;
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
    const change = (next: S): void => {
      const before = state;
      state = next;
      scene = sceneOf(state);
      if (computedFrom === undefined || computedFrom.some((key) => state[key] !== before[key])) compute();
      show();
    };

    store.listen(change);
    await pause();
    if (store.state !== state) change(store.state);
    else await inPieces(room.showing(scene, undefined), () => shown > 0);
    await pause();
    if (question === 0) compute();
  });
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

/** As they stand below each other; the readout stands beside or below the pictures. */
const PARTS = "[data-picture], .below-picture, .readout, .room-foot";

/** An address may end in the name of a picture, which did not stand there when the browser looked for it. */
function pictureIn(hash: string, room: HTMLElement): Element | null {
  return /^#[a-z-]+$/.test(hash) ? room.querySelector(`[data-picture="${hash.slice(1)}"]`) : null;
}

export async function startPage(engine: Engine, room: HTMLElement, fill: () => Promise<void>): Promise<void> {
  startFrame(engine);
  const place = placeLeft();
  room.classList.add("coming");
  // Past the event `load`, for which the browser would lay out whatever stands there in the same task.
  await pause();
  await fill();
  const parts = Array.from(room.querySelectorAll(PARTS));
  for (const part of parts) part.classList.add("to-come");
  room.classList.remove("coming");
  await drawn();
  for (const part of parts) {
    part.classList.remove("to-come");
    for (const inside of part.querySelectorAll(".board")) inside.dispatchEvent(new Event(LAID_OUT));
    if (part.closest("[hidden]") === null) await drawn();
  }
  if (scrollY < place) scrollTo({ top: place, behavior: "instant" });
  else if (place === 0) pictureIn(location.hash, room)?.scrollIntoView({ behavior: "instant" });
  await engine.open();
}
