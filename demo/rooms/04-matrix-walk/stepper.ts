// The row of steps: buttons, back and on, play, all at once; the arrow keys wherever nothing else needs them.

import { STEPS, type State } from "../../src/model/state.js";
import type { Entry } from "../../src/model/store.js";
import type { WalkStore } from "../../src/model/url.js";
import { h } from "../../src/ui/dom.js";
import { TEXTS } from "./steps.js";

const STEP_TIME = 5000;

export class Stepper {
  readonly element: HTMLElement;
  readonly #store: WalkStore;
  #buttons = STEPS.map((step, index) => {
    const button = h(
      "button",
      { type: "button", class: "step", "data-step": step },
      h("i", {}, String(index + 1)),
      TEXTS[step].name,
    );
    button.addEventListener("click", () => {
      this.#stop();
      this.#store.change({ step, all: false }, "new");
    });
    return button;
  });
  #back = h("button", { type: "button", class: "button", "aria-label": "Previous step" }, "←");
  #on = h("button", { type: "button", class: "button primary", "aria-label": "Next step" }, "Next →");
  #play = h("button", { type: "button", class: "button" }, "Play");
  #all = h("button", { type: "button", class: "button", "aria-pressed": "false" }, "All at once");
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(store: WalkStore) {
    this.#store = store;
    this.#back.addEventListener("click", () => this.#move(-1));
    this.#on.addEventListener("click", () => this.#move(1));
    this.#play.addEventListener("click", () => (this.#timer === undefined ? this.#start() : this.#stop()));
    this.#all.addEventListener("click", () => {
      this.#stop();
      store.change({ all: !store.state.all }, "new");
    });
    addEventListener("keydown", (event) => this.#key(event));
    const list = h("ol", { class: "steps" }, ...this.#buttons.map((button) => h("li", {}, button)));
    this.element = h(
      "nav",
      { class: "stepper", "aria-label": "Steps of the walk" },
      list,
      h("div", { class: "step-moves" }, this.#back, this.#on, this.#play, this.#all),
    );
  }

  show(state: State): void {
    this.#buttons.forEach((button, index) => {
      if (STEPS[index] === state.step && !state.all) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    const index = STEPS.indexOf(state.step);
    this.#back.disabled = state.all || index === 0;
    this.#on.disabled = state.all || index === STEPS.length - 1;
    this.#all.setAttribute("aria-pressed", String(state.all));
  }

  #move(by: number): void {
    this.#stop();
    this.#go(by, "new");
  }

  #go(by: number, entry: Entry): void {
    const next = STEPS[STEPS.indexOf(this.#store.state.step) + by];
    if (next !== undefined) this.#store.change({ step: next, all: false }, entry);
  }

  #start(): void {
    const { step } = this.#store.state;
    if (step === STEPS.at(-1)) this.#store.change({ step: STEPS[0] }, "run");
    this.#play.textContent = "Stop";
    this.#timer = setInterval(() => {
      this.#go(1, "run");
      if (this.#store.state.step === STEPS.at(-1)) this.#stop();
    }, STEP_TIME);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#play.textContent = "Play";
  }

  #key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("input, textarea, table, .readout-table") !== null) return;
    if (event.key === "ArrowRight") this.#move(1);
    else if (event.key === "ArrowLeft") this.#move(-1);
  }
}
