// Controls that stand for one field of a room's state: they show it, and change it.

import type { Entry, Store } from "../model/store.js";
import { choice, type Offered } from "./choice.js";
import { type Range, slider } from "./slider.js";

interface Binding<S> {
  /** The states in which the control can be seen. Default: all. */
  readonly isThere?: (state: S) => boolean;
  readonly entry?: Entry;
}

interface SliderBinding<S> extends Binding<S> {
  /** How a value is written beside the slider. */
  readonly said?: (value: number) => string;
}

export function boundSlider<K extends string, S extends Readonly<Record<K, number>>>(
  store: Store<S>,
  key: K,
  label: string,
  range: Range | readonly number[],
  { said = String, ...binding }: SliderBinding<S> = {},
): HTMLElement {
  const { element, show } = slider(label, range, (value) => put<S, K>(store, key, value as S[K], binding.entry));
  return following(store, element, (state) => show(state[key], said(state[key])), binding);
}

export function boundChoice<K extends string, S extends Readonly<Record<K, string>>>(
  store: Store<S>,
  key: K,
  legend: string,
  offered: Offered<S[K]>,
  binding: Binding<S> = {},
): HTMLElement {
  const { element, show } = choice<S[K]>(legend, offered, (value) => put<S, K>(store, key, value, binding.entry));
  return following(store, element, (state) => show(state[key]), binding);
}

function put<S extends object, K extends keyof S>(store: Store<S>, key: K, value: S[K], entry?: Entry): void {
  const patch: Partial<S> = {};
  patch[key] = value;
  store.change(patch, entry);
}

function following<S extends object>(
  store: Store<S>,
  element: HTMLElement,
  show: (state: S) => void,
  { isThere }: Binding<S>,
): HTMLElement {
  const follow = (state: S): void => {
    show(state);
    if (isThere !== undefined) element.hidden = !isThere(state);
  };
  store.listen(follow);
  follow(store.state);
  return element;
}
