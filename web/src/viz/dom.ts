// Helpers that make elements without HTML strings, for strict content policies, and the base class of the custom elements.
/// <reference lib="dom" preserve="true" />

export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

/** The listeners of an element for events of its own, by their names. */
export interface Listening<Events> {
  addEventListener<Name extends keyof Events>(
    type: Name,
    listener: (event: Events[Name]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<Name extends keyof Events>(
    type: Name,
    listener: (event: Events[Name]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
}

/** The base class of an element with these events. On a server there is no HTMLElement, and importing must work there too. */
export function elementWith<Events>(): new () => Listening<Events> & HTMLElement {
  return (globalThis.HTMLElement ?? class {}) as new () => Listening<Events> & HTMLElement;
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

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function calm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Adds a style sheet once to each document or shadow root. It is constructed, because a policy could forbid `style` elements. */
export function adopt(element: Element, css: string): void {
  const root = element.getRootNode();
  if (!(root instanceof Document || root instanceof ShadowRoot)) return;
  let sheet = sheets.get(css);
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    sheets.set(css, sheet);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

const sheets = new Map<string, CSSStyleSheet>();
