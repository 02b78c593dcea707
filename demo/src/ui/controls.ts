// What the reader sets and starts: choices, sliders, chips, examples, and long work; and controls that stand for one field of a room’s state,
// which they show and change.

import type { Entry, Store } from "../model/store.js";
import { button, h } from "./dom.js";

interface Option<T> {
  readonly value: T;
  readonly text: string;
  readonly about?: string;
}

/** Texts by their values; or options in their order, each the text itself where that is all. */
type Offered<T extends string> = Readonly<Record<T, string>> | readonly (Option<T> | T)[];

let groups = 0;

/** A row of radio buttons that look like one switch. Native inputs, so that keyboard and screen readers know them. */
export function choice<T extends string>(legend: string | Node, offered: Offered<T>, chosen: (value: T) => void) {
  const name = `choice-${++groups}`;
  const all = listed(offered).map(({ value, text, about }) => {
    const [input, span] = [h("input", { type: "radio", name, value }), h("span", {}, text)];
    input.addEventListener("change", () => chosen(value));
    return { input, span, label: h("label", { title: about }, input, span) };
  });
  const labels = h("div", {}, ...all.map(({ label }) => label));
  return {
    element: h("fieldset", { class: "choice" }, h("legend", {}, legend), labels),
    /** Any other value: none is chosen. */
    show: (value: string): void => {
      for (const { input } of all) input.checked = input.value === value;
    },
    enable: (value: T, enabled: boolean): void => {
      for (const { input } of all) if (input.value === value) input.disabled = !enabled;
    },
    label: (value: T, text: string): void => {
      for (const { input, span } of all) if (input.value === value) span.textContent = text;
    },
  };
}

function listed<T extends string>(offered: Offered<T>): readonly Option<T>[] {
  if (isList(offered)) return offered.map((one) => (typeof one === "string" ? { value: one, text: one } : one));
  return (Object.keys(offered) as T[]).map((value) => ({ value, text: offered[value] }));
}

const isList = <T extends string>(offered: Offered<T>): offered is readonly (Option<T> | T)[] => Array.isArray(offered);

type Range = Readonly<Record<"least" | "most" | "step", number>>;

let sliders = 0;

/** Over a list of values or a range; says its value in words, to the eye and to screen readers. */
export function slider(label: string, range: Range | readonly number[], changed: (value: number) => void) {
  const id = `slider-${++sliders}`;
  const list = "step" in range ? undefined : range;
  const { least, most, step } = "step" in range ? range : { least: 0, most: range.length - 1, step: 1 };
  const input = h("input", { type: "range", id, min: least, max: most, step });
  const output = h("output", { for: id });
  input.addEventListener("input", () => {
    const position = Number(input.value);
    changed(list === undefined ? position : (list[position] ?? position));
  });
  return {
    element: h("div", { class: "slider" }, h("label", { for: id }, label), input, output),
    show: (value: number, said: string): void => {
      // Of the value in an ascending list, or of the last one below it.
      const place = list === undefined ? value : Math.max(0, list.filter((one) => one <= value).length - 1);
      input.value = String(place);
      input.setAttribute("aria-valuetext", said);
      output.textContent = said;
    },
    limit: (largest: number): void => {
      input.max = String(largest);
    },
    enable: (enabled: boolean): void => {
      input.disabled = !enabled;
    },
  };
}

/** A row of buttons of which any number may be pressed. `toggled`: all that are pressed now, in their order. */
export function chips(label: string, toggled: (pressed: readonly number[]) => void, look = "chip") {
  const element = h("div", { class: "chips", dir: "auto", role: "group", "aria-label": label });
  let pressed: readonly number[] = [];
  const press = (one: number) => () =>
    toggled(pressed.includes(one) ? pressed.filter((other) => other !== one) : [...pressed, one].sort((a, b) => a - b));
  return {
    element,
    show: (names: readonly string[], now: readonly number[]): void => {
      pressed = now;
      const known = Array.from(element.children, (chip) => chip.textContent);
      if (known.join("\n") !== names.join("\n"))
        element.replaceChildren(...names.map((name, index) => button(name, press(index), look)));
      Array.from(element.children).forEach((chip, index) => {
        chip.setAttribute("aria-pressed", String(now.includes(index)));
      });
    },
  };
}

export function presets<P extends { name: string }>(label: string, all: readonly P[], chosen: (one: P) => void) {
  const group = { class: "presets", role: "group", "aria-label": "Examples" };
  const buttons = all.map((one) => button(one.name, () => chosen(one), "link"));
  return h("div", group, h("span", { class: "small-label" }, label), ...buttons);
}

interface Binding<S> {
  /** The states in which the control can be seen. Default: all. */
  readonly isThere?: (state: S) => boolean;
  readonly entry?: Entry;
  /** How a value is written beside a slider. */
  readonly said?: (value: number) => string;
}

export function boundSlider<K extends string, S extends Readonly<Record<K, number>>>(
  store: Store<S>,
  key: K,
  label: string,
  range: Range | readonly number[],
  { said = String, ...binding }: Binding<S> = {},
): HTMLElement {
  const { element, show } = slider(label, range, (value) => put<S, K>(store, key, value as S[K], binding.entry));
  return following(store, key, element, (state) => show(state[key], said(state[key])), binding);
}

export function boundChoice<K extends string, S extends Readonly<Record<K, string>>>(
  store: Store<S>,
  key: K,
  legend: string,
  offered: Offered<S[K]>,
  binding: Binding<S> = {},
): HTMLElement {
  const { element, show } = choice<S[K]>(legend, offered, (value) => put<S, K>(store, key, value, binding.entry));
  return following(store, key, element, (state) => show(state[key]), binding);
}

function put<S extends object, K extends keyof S>(store: Store<S>, key: K, value: S[K], entry?: Entry): void {
  const patch: Partial<S> = {};
  patch[key] = value;
  store.change(patch, entry);
}

function following<S extends object>(
  store: Store<S>,
  key: keyof S,
  element: HTMLElement,
  show: (state: S) => void,
  { isThere }: Binding<S>,
): HTMLElement {
  const follow = (state: S): void => {
    show(state);
    element.hidden = store.isLocked(key) || isThere?.(state) === false;
  };
  store.listen(follow);
  follow(store.state);
  return element;
}

interface Work {
  readonly name: string;
  readonly look?: "button" | "button primary" | "link";
  /** Resolves with what is to be said when it is done; throws when the signal is aborted. */
  readonly run: (signal: AbortSignal, say: (text: string) => void) => Promise<string>;
}

/** A button that starts long work and stops it, and the line beside it that says how far it is, how it ended, or why it broke off. */
export class LongWork {
  readonly button: HTMLButtonElement;
  readonly #said = h("p", { class: "small-label", role: "status" });
  readonly #work: Work;
  #name: string;
  #running: AbortController | undefined;
  #ending: Promise<void> = Promise.resolve();
  #isRenewed = false;

  constructor(work: Work) {
    this.#work = work;
    this.#name = work.name;
    this.button = h("button", { type: "button", class: work.look ?? "button" }, work.name);
    this.button.addEventListener("click", () => void this.press());
  }

  /** Other elements of the same line. */
  line(...others: readonly HTMLElement[]): HTMLElement {
    return h("div", { class: "race" }, this.button, ...others, this.#said);
  }

  /** Stopped work ends a little later; it runs no more. */
  get isRunning(): boolean {
    return this.#running?.signal.aborted === false;
  }

  /** Its input has changed: work under way starts again, if its button is still there, and the result of earlier work is removed. */
  renew(): void {
    if (this.isRunning) this.begin();
    // Work that the reader stopped is not started again.
    else if (this.#running === undefined) this.say("");
  }

  /** Starts the work. What is under way ends before that, even where the reader has just stopped it. */
  begin(): void {
    if (this.#running === undefined) return void this.press();
    this.#isRenewed = true;
    this.#running.abort();
  }

  /** What its button says while nothing runs. */
  rename(name: string): void {
    this.#name = name;
    if (this.#running === undefined) this.button.textContent = name;
  }

  say(text: string): void {
    this.#said.textContent = text;
  }

  /** As its button does: starts the work, or stops it. Resolves when the work has ended. */
  press(): Promise<void> {
    if (this.#running === undefined) this.#ending = this.#start();
    else void this.stop();
    return this.#ending;
  }

  /** Resolves when nothing runs any more. */
  stop(): Promise<void> {
    this.#isRenewed = false;
    this.#running?.abort();
    return this.#ending;
  }

  async #start(): Promise<void> {
    this.button.textContent = "Stop";
    let ended: string;
    do {
      this.#isRenewed = false;
      ended = await this.#run();
    } while (this.#isRenewed && !this.button.hidden);
    this.#running = undefined;
    this.button.textContent = this.#name;
    this.say(this.#isRenewed ? "" : ended);
  }

  /** Runs once, and resolves with the text of how it ended. */
  async #run(): Promise<string> {
    const running = new AbortController();
    this.#running = running;
    try {
      return await this.#work.run(running.signal, (text) => this.say(text));
    } catch (error) {
      return running.signal.aborted ? "Stopped." : brokenOff(error);
    }
  }
}

export function brokenOff(error: unknown): string {
  return `It broke off: ${error instanceof Error ? error.message : String(error)}.`;
}
