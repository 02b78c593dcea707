// Room 4, the matrix walk: X to Q, K, V, to scores, to shares, to the output, every cell telling its arithmetic.

import type { KernelAnswer } from "../../src/engine/walk-call.js";
import type { Cell } from "../../src/model/cell.js";
import { rowsOf } from "../../src/model/matrix.js";
import { NOTHING_EDITED, type Role, STEPS, type State } from "../../src/model/state.js";
import type { WalkStore } from "../../src/model/url.js";
import type { Walk } from "../../src/model/walk.js";
import { agreement, agreementLine, furnish, OWN_ARITHMETIC } from "../../src/page/furnish.js";
import { tellingWord } from "../../src/page/stage.js";
import { choice } from "../../src/ui/choice.js";
import { h } from "../../src/ui/dom.js";
import type { Explanation } from "../../src/ui/explanation.js";
import type { MatrixHandlers } from "../../src/ui/matrix-handlers.js";
import { toldAsShown } from "../../src/ui/orientation.js";
import { below, saveMenu } from "../../src/ui/picture.js";
import { Teller } from "../../src/ui/teller.js";
import { heedCode, torchCode } from "./code.js";
import { afterEdit } from "./edits.js";
import { explain } from "./explain.js";
import { Options } from "./options.js";
import { Panel } from "./panels.js";
import { MATRICES, type Scene, type Spot, tellingSpot } from "./spots.js";
import { Stepper } from "./stepper.js";
import { viewOf } from "./views.js";

/** What stands below the board besides: the field of the sentence, and its arcs. */
interface Places {
  readonly input: HTMLElement;
  readonly stage: HTMLElement;
}

export class MatrixWalk {
  readonly #store: WalkStore;
  #walk: Walk;
  #answer: KernelAnswer | undefined;
  #options: Options;
  #stepper: Stepper;
  #teller = new Teller({
    keeper: () => this.#store,
    first: () => this.#first(),
    explain: (cell) => this.#explain(cell),
    light: (lights) => {
      for (const panel of this.#panels) panel.light(lights);
    },
    retype: (cell, value) => this.#edit({ ...cell, values: [[value]] }),
  });
  #panels: readonly Panel[];
  #agreement = agreementLine();
  #heads = choice(
    "Head",
    ["1", "2", "3", "4"].map((value) => ({ value, text: value })),
    (value) => this.#store.change({ head: Number(value) - 1 }),
  );
  #roles = choice<Role>(
    "Show",
    [
      { value: "q", text: "queries" },
      { value: "k", text: "keys" },
      { value: "v", text: "values" },
    ],
    (role) => this.#store.change({ role }),
  );
  #restore = h("button", { type: "button", class: "link restore" }, "Undo all edits");

  constructor(store: WalkStore, root: HTMLElement, walk: Walk, { input, stage }: Places) {
    input.hidden = stage.hidden = false;
    this.#store = store;
    this.#walk = walk;
    this.#options = new Options(store);
    this.#stepper = new Stepper(store);
    const handlers: MatrixHandlers = {
      inspect: (name, row, col, held) => this.#teller.point({ name, row, col }, held),
      leave: () => this.#teller.leave(),
      edit: (name, row, col, values) => this.#edit({ name, row, col, values }),
    };
    this.#panels = STEPS.map((step) => new Panel(step, handlers, step === "project" ? this.#roles.element : undefined));
    this.#restore.addEventListener("click", () =>
      store.change({ edited: NOTHING_EDITED, ...(store.state.text === "" ? {} : { numbers: null }) }),
    );
    const panels = h("div", { class: "panels" }, ...this.#panels.map(({ element }) => element));
    furnish(root, {
      above: [
        h(
          "div",
          { class: "walk-bar" },
          this.#stepper.element,
          h("div", { class: "walk-bar-end" }, this.#heads.element, this.#restore),
          saveMenu("walk", "the walk", panels, () => this.#data()),
        ),
      ],
      pictures: [
        h("div", { "data-picture": "walk" }, panels),
        h("div", { class: "below-picture" }, input, ...below({ more: this.#options.more }), stage),
      ],
      menu: [this.#options.by.element],
      readout: this.#teller.element,
      agreement: this.#agreement,
      heedCode: () => heedCode(this.#walk, store.state),
      torchCode: () => torchCode(this.#walk, store.state),
    });
  }

  /** `answer`: the kernel's, or undefined as long as there is none for this walk. */
  show(walk: Walk, answer: KernelAnswer | undefined): void {
    this.#walk = walk;
    this.#answer = answer;
    const { state } = this.#store;
    this.#options.show(state, walk);
    this.#stepper.show(state);
    this.#heads.element.hidden = state.heads === 1;
    this.#heads.element.dataset["heads"] = String(state.heads);
    this.#heads.show(String(state.head + 1));
    this.#roles.show(state.role);
    this.#restore.hidden = !isEdited(state);
    const scene = this.#scene();
    for (const panel of this.#panels) {
      const visible = state.all || panel.step === state.step;
      if (visible && panel.element.hidden) panel.appear();
      panel.element.hidden = !visible;
      if (visible && scene !== undefined) panel.show(scene);
    }
    this.#agreement.textContent = agreementOf(answer);
    this.#teller.tell();
  }

  /** The step has changed: what was pointed at belongs to another one. */
  forget(): void {
    this.#teller.forget();
    this.#panels.find(({ step }) => step === this.#store.state.step)?.appear();
  }

  #scene(): Scene | undefined {
    const { state } = this.#store;
    const head = this.#walk.heads[state.head];
    return head === undefined ? undefined : { walk: this.#walk, state, head, kernel: this.#answer?.heads[state.head] };
  }

  #first(): Spot | undefined {
    const scene = this.#scene();
    if (scene === undefined || this.#walk.labels.length === 0) return undefined;
    const asker = this.#store.state.asker >= 0 ? this.#store.state.asker : tellingWord(this.#walk);
    return tellingSpot(scene, asker);
  }

  #explain(cell: Cell): Explanation | undefined {
    const scene = this.#scene();
    const name = MATRICES.find((known) => known === cell.name);
    if (scene === undefined || name === undefined || !this.#panels.some((panel) => panel.shows(cell))) return undefined;
    const told = explain(scene, { ...cell, name });
    return toldAsShown(told, this.#store.state.columns);
  }

  /** Of all steps, whichever are shown. */
  #data(): unknown {
    const scene = this.#scene();
    if (scene === undefined) return {};
    const matrices = MATRICES.map((name) => [name, rowsOf(viewOf(name, scene).matrix)] as const);
    const { labels, askers, featureNames, scale } = this.#walk;
    return { labels, askers, featureNames, scale, head: this.#store.state.head, ...Object.fromEntries(matrices) };
  }

  #edit(edit: Parameters<typeof afterEdit>[2]): void {
    const patch = afterEdit(this.#store.state, this.#walk, edit);
    if (patch === undefined) return;
    this.#store.hold({ name: edit.name, row: edit.row, col: edit.col });
    this.#store.change(patch);
  }
}

function isEdited({ edited, numbers, text }: State): boolean {
  return edited.q !== null || edited.k !== null || edited.v !== null || (numbers !== null && text !== "");
}

function agreementOf(answer: KernelAnswer | undefined): string {
  if (answer === undefined) return OWN_ARITHMETIC;
  return `Shares and outputs come from the kernel. It and the arithmetic by hand ${agreement(answer.difference)}.`;
}
