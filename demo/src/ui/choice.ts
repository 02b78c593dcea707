// A row of radio buttons that look like one switch. Native inputs, so that keyboard and screen readers know them.

import { h } from "./dom.js";

interface Choice<T extends string> {
  readonly element: HTMLFieldSetElement;
  /** Any other value: none is chosen. */
  readonly show: (value: string) => void;
  readonly label: (value: T, text: string) => void;
  readonly enable: (value: T, enabled: boolean) => void;
}

interface Option<T> {
  readonly value: T;
  readonly text: string;
  readonly about?: string;
}

/** Texts by their values; or options in their order, each the text itself where that is all. */
export type Offered<T extends string> = Readonly<Record<T, string>> | readonly (Option<T> | T)[];

let groups = 0;

export function choice<T extends string>(legend: string, offered: Offered<T>, chosen: (value: T) => void): Choice<T> {
  const name = `choice-${++groups}`;
  const all = listed(offered).map(({ value, text, about }) => {
    const [input, span] = [h("input", { type: "radio", name, value }), h("span", {}, text)];
    input.addEventListener("change", () => chosen(value));
    return { input, span, label: h("label", { title: about }, input, span) };
  });
  const labels = h("div", {}, ...all.map(({ label }) => label));
  return {
    element: h("fieldset", { class: "choice" }, h("legend", {}, legend), labels),
    show: (value) => {
      for (const { input } of all) input.checked = input.value === value;
    },
    enable: (value, enabled) => {
      for (const { input } of all) if (input.value === value) input.disabled = !enabled;
    },
    label: (value, text) => {
      for (const { input, span } of all) if (input.value === value) span.textContent = text;
    },
  };
}

function listed<T extends string>(offered: Offered<T>): readonly Option<T>[] {
  if (isList(offered)) return offered.map((one) => (typeof one === "string" ? { value: one, text: one } : one));
  return (Object.keys(offered) as T[]).map((value) => ({ value, text: offered[value] }));
}

const isList = <T extends string>(offered: Offered<T>): offered is readonly (Option<T> | T)[] => Array.isArray(offered);
