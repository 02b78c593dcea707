// Room 6, heads: columns that part into heads, two layers that decide, and heads that share.

import type { KernelAnswer } from "../../src/engine/walk-call.js";
import { rowsOfAll, withBlock } from "../../src/model/matrix.js";
import { Store } from "../../src/model/store.js";
import { agreed, agreementLine, furnish } from "../../src/page/furnish.js";
import { runRoom } from "../../src/page/run-room.js";
import { Board } from "../../src/ui/board.js";
import { choice } from "../../src/ui/choice.js";
import { find, h } from "../../src/ui/dom.js";
import { NamedMatrices } from "../../src/ui/named-matrices.js";
import { byChoice, toldAsShown } from "../../src/ui/orientation.js";
import { drawer, inColours, legend, picture } from "../../src/ui/picture.js";
import { atOnce } from "../../src/ui/pieces.js";
import { Teller } from "../../src/ui/teller.js";
import { ENDINGS } from "../00-thread/toy.js";
import { heedCode, torchCode } from "./code.js";
import { countsPicture } from "./counts.js";
import { explain } from "./explain.js";
import { LAYER_STEPS, layersOf, layersText, tellingCell, twoLayers } from "./layers.js";
import { headTones, ribbons, STEP_NAMES, textOf } from "./ribbons.js";
import { callsOf, type HeadsScene, readAnswers, sceneOf } from "./scene.js";
import { HEADS, HEADS_STATE, STEPS } from "./state.js";
import { LAYER_LINES, LINES, viewOf } from "./views.js";
// After the frame, whose styles a room refines.
import "../../style/board.css";
import "../../style/heads.css";

const store = new Store(HEADS_STATE);
const isTurned = (): boolean => store.state.by === "columns";

class HeadsRoom {
  #scene: HeadsScene;
  #asker: number;
  /** Where the board is, or is going. */
  #place = 0;
  readonly #matrices = new NamedMatrices([...LINES, ...LAYER_LINES].flat(), isTurned);
  readonly #teller = new Teller({
    keeper: () => store,
    first: () =>
      this.#isAtLayers
        ? tellingCell(this.#layers, Math.round(this.#two.at))
        : { name: "A-0", row: this.#scene.it, col: this.#scene.words.indexOf("animal") },
    explain: (cell) => toldAsShown(explain(this.#scene, this.#layers, cell), isTurned()),
    light: (lights) => this.#matrices.light(lights),
    retype: ({ name, row, col }, value) => this.#edit(name, row, col, [[value]]),
  });
  readonly #ribbons = new Board({
    steps: STEPS.map((step) => STEP_NAMES[step]),
    moved: (at) => this.#go(at),
    picked: (name) => this.#pick(name),
  });
  readonly #two = new Board({
    steps: LAYER_STEPS,
    moved: (at) => {
      this.#layersPicture.say(layersText(this.#layers, Math.round(at)));
      this.#teller.tell();
    },
    picked: (name) => this.#pick(name),
  });
  /** The second picture is beside the arithmetic. */
  #isAtLayers = false;
  readonly #legend = h("p", { class: "small-label" });
  /** Below each picture, with the names of its matrices. */
  readonly #drawers = new Map<HTMLDetailsElement, readonly string[]>();
  readonly #heads = choice("Heads h", HEADS, (heads) => store.change({ heads }, "new"));
  readonly #reason = choice("It was too", ENDINGS, (reason) => store.change({ reason }, "new"));
  readonly #by = byChoice("word", (by) => store.change({ by }));
  readonly #headsPicture = picture({
    name: "heads",
    title: "One head averages, two split",
    body: [this.#ribbons.element, this.#legend],
    controls: [this.#heads.element],
    numbers: this.#drawer(LINES),
    data: () => this.#data(),
  });
  readonly #layersPicture = picture({
    name: "layers",
    title: "Two layers decide",
    body: [
      this.#two.element,
      legend({ key: "weights of layer 1", value: "added to “it”", query: "query and weights of layer 2" }),
    ],
    controls: [this.#reason.element],
    numbers: this.#drawer(LAYER_LINES),
    data: () => ({ words: this.#layers.words, layers: [this.#layers.first.row, this.#layers.second.row] }),
  });
  readonly #counts = countsPicture(store);
  readonly #agreement = agreementLine();

  constructor(scene: HeadsScene) {
    this.#scene = scene;
    this.#asker = scene.it;
    this.#matrices.listen(this.#teller, (...edit) => this.#edit(...edit));
    new IntersectionObserver(
      ([seen]) => {
        const isAtLayers = seen?.isIntersecting === true;
        if (isAtLayers === this.#isAtLayers) return;
        this.#isAtLayers = isAtLayers;
        this.#teller.tell();
      },
      { threshold: 0.6 },
    ).observe(this.#two.element);
    furnish(find("#room", HTMLElement), {
      menu: [this.#by.element],
      pictures: [this.#headsPicture.element, this.#layersPicture.element, this.#counts.element],
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#scene),
      torchCode: () => torchCode(this.#scene),
    });
  }

  show(bare: HeadsScene, kernel: KernelAnswer | undefined): void {
    atOnce(this.showing(bare, kernel));
  }

  *showing(bare: HeadsScene, kernel: KernelAnswer | undefined): Generator<undefined> {
    const scene = { ...bare, kernel };
    this.#scene = scene;
    const { state } = scene;
    this.#heads.show(state.heads);
    this.#reason.show(state.reason);
    this.#by.show(state.by);
    this.#paint();
    yield;
    this.#showNumbers();
    yield;
    this.#counts.show(state);
    yield;
    this.#agreement.textContent = agreed("Weights and outputs", kernel?.difference);
    this.#teller.tell();
  }

  #paint(): void {
    const [scene, layers] = [this.#scene, this.#layers];
    const step = STEPS.indexOf(scene.state.step);
    const isThere = Math.round(this.#place) === step;
    if (!isThere) this.#place = step;
    this.#ribbons.show((at, width) => ribbons(scene, this.#asker, at, width), isThere ? this.#ribbons.at : step);
    this.#legend.replaceChildren(...inColours(headTones(scene.walk.heads.length)));
    this.#headsPicture.say(textOf(scene, this.#asker, scene.state.step));
    this.#two.show((at, width) => twoLayers(layers, at, width));
    this.#layersPicture.say(layersText(layers, Math.round(this.#two.at)));
  }

  get #layers() {
    return layersOf(store.state.reason);
  }

  #drawer(lines: readonly (readonly string[])[]): HTMLDetailsElement {
    const made = drawer("Numbers", ...lines.map((line) => this.#matrices.line(...line)));
    made.classList.add("numbers");
    made.addEventListener("toggle", () => {
      this.#showNumbers();
      this.#teller.tell();
    });
    this.#drawers.set(made, lines.flat());
    return made;
  }

  /** Matrices are drawn only where somebody looks. */
  #showNumbers(): void {
    const layers = this.#layers;
    for (const [{ open }, names] of this.#drawers)
      if (open) this.#matrices.show((name) => viewOf(name, this.#scene, layers), names);
  }

  #go(at: number): void {
    this.#place = at;
    const step = STEPS[Math.round(at)];
    if (step !== undefined && step !== store.state.step) store.change({ step });
  }

  /** A word asks from now on; of anything else the arithmetic is told. */
  #pick(name: string): void {
    const [matrix = "", row, col] = name.split(".");
    if (matrix !== "word") {
      this.#teller.point({ name: matrix, row: Number(row), col: Number(col) }, true);
      return;
    }
    this.#asker = Number(row);
    this.#paint();
  }

  #edit(name: string, row: number, col: number, values: readonly (readonly number[])[]): void {
    if (name === "Wo-0") store.change({ mix: withBlock(store.state.mix, row, col, values) });
  }

  /** Of all steps, whichever is shown. */
  #data(): unknown {
    const { walk, words, state, mixed } = this.#scene;
    const heads = walk.heads.map(({ q: Q, k: K, v: V, weights: A, output: O }) => rowsOfAll({ Q, K, V, A, O }));
    return { words, heads, ...rowsOfAll({ X: walk.x, WO: state.mix, Y: mixed }) };
  }
}

runRoom({
  store,
  sceneOf,
  callsOf,
  read: readAnswers,
  build: (scene) => new HeadsRoom(scene),
  computedFrom: ["reason", "heads"],
});
