// Small helpers to make elements. No templates from strings, so that a strict content policy holds.

export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

export function button(text: string, press: () => void, look = "button"): HTMLButtonElement {
  const made = h("button", { type: "button", class: look }, text);
  made.addEventListener("click", press);
  return made;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Node[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function find<T extends Element>(selector: string, type: new () => T, root: ParentNode = document): T {
  const element = root.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`the page lacks ${selector}`);
  return element;
}

export function calm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
