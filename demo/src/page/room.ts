// What rooms have in common: how they are run, how their numbers tell where they came from, and where their furniture stands.

import { type Answer, type Call, Engine } from "../engine/engine.js";
import type { Cell, Store } from "../model/store.js";
import { codePanel } from "../ui/code-panel.js";
import { find, h } from "../ui/dom.js";
import type { Explanation, NamedLight } from "../ui/explanation.js";
import { type EditNamed, NamedMatrices, type NamedSpot } from "../ui/named-matrices.js";
import { agreeing, magnitude } from "../ui/numbers.js";
import { atOnce, drawn, inPieces, LAID_OUT, pause } from "../ui/pieces.js";
import { Teller } from "../ui/teller.js";
import { showEmbedded } from "./embed.js";
import { startFrame } from "./frame.js";
import { placeLeft } from "./kept.js";

/** What a room is built with. The scene and the kernel's answer to it are those that are shown. */
export interface RoomContext<Scene, Answered, Name extends string> {
  readonly engine: Engine;
  readonly scene: Scene;
  readonly answer: Answered | undefined;
  readonly matrices: NamedMatrices<Name>;
  readonly teller: Teller;
}

export interface BuiltRoom<Name extends string> extends Pick<Furniture, "above" | "pictures" | "menu" | "guess"> {
  /** The cell to begin with. */
  readonly first: () => Cell | undefined;
  readonly explain: (spot: NamedSpot<Name>) => Explanation | undefined;
  /** Of a cell that none of the matrices shows. */
  readonly explainOther?: (cell: Cell) => Explanation | undefined;
  /** A number was typed, or several were pasted. */
  readonly edit?: EditNamed<string>;
  /** Default: lights the matrices. */
  readonly light?: (lights: readonly NamedLight[]) => void;
  /** Shows the scene; false: it is yet to come, and the readout stays as it is. */
  readonly show: () => unknown;
  /** What remains, where all of it is too much to be done at a time. */
  readonly showRest?: () => Iterable<unknown>;
}

interface Parts<State extends object, Scene, Answered, Name extends string>
  extends Pick<RoomParts<State, Scene, Answered>, "store" | "prepare" | "sceneOf"> {
  /** What is asked of it, and what is said of its answer. */
  readonly kernel: Pick<RoomParts<State, Scene, Answered>, "callsOf" | "read" | "computedFrom"> & {
    readonly said: (answer: Answered | undefined, scene: Scene) => string;
  };
  readonly code: Readonly<Record<"heed" | "torch", (scene: Scene) => string>>;
  readonly matrices: readonly Name[];
  readonly build: (room: RoomContext<Scene, Answered, Name>) => BuiltRoom<Name>;
}

/**
 * A room whose numbers tell how they came about. Its matrices, the readout that takes one of their cells apart, and the line about the
 * kernel's numbers are made here; the room itself adds the pictures.
 */
export function tellingRoom<S extends object, Scene, A, Name extends string>(parts: Parts<S, Scene, A, Name>): void {
  const { kernel, code, build, ...others } = parts;
  runRoom({
    ...others,
    ...kernel,
    build: (scene, engine) => {
      const matrices = new NamedMatrices(parts.matrices, parts.store);
      const teller = new Teller({
        keeper: () => parts.store,
        first: () => built.first(),
        explain: (cell) => matrices.told(cell, built.explain, built.explainOther),
        light: (lights) => (built.light === undefined ? matrices.light(lights) : built.light(lights)),
        retype: ({ name, row, col }, value) => built.edit?.(name, row, col, [[value]]),
      });
      const room: RoomContext<Scene, A, Name> = { engine, matrices, teller, scene, answer: undefined };
      const built: BuiltRoom<Name> = build(room);
      matrices.listen(teller, built.edit);
      const agreement = furnish(find("#room", HTMLElement), {
        ...built,
        readout: teller.element,
        heedCode: () => code.heed(room.scene),
        torchCode: () => code.torch(room.scene),
      });
      function* showing(next: Scene, answer: A | undefined): Generator<unknown> {
        Object.assign(room, { scene: next, answer });
        if (built.show() === false) return;
        if (built.showRest !== undefined) yield* built.showRest();
        agreement.textContent = kernel.said(answer, next);
        teller.tell();
      }
      return { showing, show: (...now) => atOnce(showing(...now)) };
    },
  });
}

interface Room<Scene, Answered> {
  readonly show: (scene: Scene, answered: Answered | undefined) => void;
  /** The same in pieces. */
  readonly showing: (scene: Scene, answered: Answered | undefined) => Iterable<unknown>;
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

/**
 * Shows a scene of every state of the store at once, and the kernel's answer to it as soon as there is one. Only the first scene is made and
 * shown with pauses: the room is filled unseen, then its parts are laid out one after the other, from top to bottom, and the engine is
 * opened. So the page never freezes for long, and nothing jumps.
 */
export function runRoom<S extends object, Scene, A>(parts: RoomParts<S, Scene, A>): void {
  const { store, prepare, sceneOf, callsOf, read, build, computedFrom } = parts;
  const engine = new Engine();
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

/** As they stand below each other; the readout stands beside or below the pictures. */
const PARTS = "[data-picture], .below-picture, .side-tabs, .readout, .room-foot";

/** At the picture that the address names, which did not stand there when the browser looked for it, or at what a room says of the address. */
function arrive(hash: string, room: HTMLElement): void {
  const isPicture = /^#[a-z-]+$/.test(hash);
  const goal = room.querySelector(isPicture ? `[data-picture="${hash.slice(1)}"]` : "[data-arrive]:not(:empty)");
  goal?.scrollIntoView({ behavior: "instant", block: isPicture ? "start" : "center" });
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
  showEmbedded(room);
  if (scrollY < place) scrollTo({ top: place, behavior: "instant" });
  else if (place === 0) arrive(location.hash, room);
  await engine.open();
}

/** An element, or what has one. */
type Standing = HTMLElement | { readonly element: HTMLElement };

interface Furniture {
  /** Above everything: what chooses the picture. */
  readonly above?: readonly Standing[];
  /** The first is what the room is about. */
  readonly pictures: readonly Standing[];
  readonly readout: HTMLElement;
  /** A question below the first picture, which then shows the answer. */
  readonly guess?: HTMLElement;
  readonly heedCode: () => string;
  readonly torchCode: () => string;
  /** What is chosen for all pictures. */
  readonly menu?: readonly HTMLElement[];
}

const elementsOf = (all: readonly Standing[]): HTMLElement[] =>
  all.map((one) => (one instanceof HTMLElement ? one : one.element));

/** The line that says how the page's numbers and the kernel's agree, below all pictures. */
export function furnish(root: HTMLElement, furniture: Furniture): HTMLElement {
  const { above = [], pictures, readout, guess, heedCode, torchCode, menu = [] } = furniture;
  const agreement = h("p", { class: "agreement", role: "status" });
  const panel = codePanel(readout, { heed: heedCode, torch: torchCode });
  root.append(
    ...elementsOf(above),
    h("div", { class: "with-readout" }, h("div", {}, ...elementsOf(pictures)), panel.element),
    h("div", { class: "room-foot" }, agreement, ...menu),
  );
  if (guess !== undefined) root.querySelector(".picture-body")?.after(guess);
  // It is said anew whenever a room shows something else.
  new MutationObserver(panel.refresh).observe(agreement, { childList: true });
  return agreement;
}

/** "The two …": how far the kernel's numbers and the page's are apart at most. */
export function agreement(apart: number): string {
  if (apart === 0) return "agree exactly";
  if (apart < 0.05) return `agree ${agreeing(apart)}`;
  return Number.isFinite(apart)
    ? `are up to ${magnitude(apart)} apart`
    : "cannot be compared: some numbers are too large for single precision";
}

/** What comes from the kernel, and how far it is from the page's numbers; `apart`: undefined before it answers. */
export function agreed(what: string, apart: number | undefined): string {
  return apart === undefined
    ? OWN_ARITHMETIC
    : `${what}: computed by heed (C++) and again in JavaScript; they ${agreement(apart)}.`;
}

/** As long as there is no answer of the kernel's. */
export const OWN_ARITHMETIC = "Shown: this page’s own arithmetic, in double precision.";
