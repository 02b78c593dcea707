// Small helpers to make elements, and tables of figures. No templates from strings, so that a strict content policy holds.

export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

export function button(text: string, press: () => void, look = "button"): HTMLButtonElement {
  const made = h("button", { type: "button", class: look }, text);
  made.addEventListener("click", press);
  return made;
}

/** One tab stop for several buttons: arrows go to the next one that can be pressed, up and down in lines of so many. */
export function oneStop(group: HTMLElement, buttons: readonly HTMLButtonElement[], across = 0): void {
  const reach = (target: EventTarget | null | undefined): void => {
    for (const one of buttons) one.tabIndex = one === target ? 0 : -1;
  };
  reach(buttons[0]);
  group.addEventListener("focusin", ({ target }) => reach(target));
  const ways = { ArrowRight: 1, ArrowLeft: -1, ...(across > 0 && { ArrowDown: across, ArrowUp: -across }) };
  group.addEventListener("keydown", (event) => {
    const by = goalOf(event, ways);
    const open = buttons.filter((one) => !one.disabled);
    if (by !== undefined) open[open.findIndex((one) => one.matches(":focus")) + by]?.focus();
  });
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly (Node | string)[]): E {
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

/** "W_Q" has its index below the line. */
export function indexed(text: string): readonly (Node | string)[] {
  return text.split(/(?<=\b[A-Za-z])_([A-Z])\b/).map((part, place) => (place % 2 === 0 ? part : h("sub", {}, part)));
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Gives an element other children, and keeps those of its own that are like them: a browser styles new ones anew, and old ones where they change. */
export function refill(shown: Element, ...wanted: readonly Node[]): void {
  const old = Array.from(shown.childNodes);
  wanted.forEach((node, place) => {
    const there = old[place];
    if (there === undefined) shown.append(node);
    else if (there instanceof Element && node instanceof Element && there.tagName === node.tagName) {
      for (const name of there.getAttributeNames()) if (!node.hasAttribute(name)) there.removeAttribute(name);
      for (const { name, value } of node.attributes)
        if (there.getAttribute(name) !== value) there.setAttribute(name, value);
      refill(there, ...node.childNodes);
    } else if (!(there instanceof Text && there.isEqualNode(node))) there.replaceWith(node);
  });
  for (const rest of old.slice(wanted.length)) rest.remove();
}

export function find<T extends Element>(selector: string, type: new () => T, root: ParentNode = document): T {
  const element = root.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`the page lacks ${selector}`);
  return element;
}

export const calm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The page's colours are others now. */
export function onRecolour(told: () => void): void {
  new MutationObserver(told).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", told);
}

/** A button that opens files of some kinds. */
export function fileButton(label: string, id: string, accept: string, opened: (files: readonly File[]) => void) {
  const input = h("input", { type: "file", multiple: accept !== IMAGES, accept, id });
  input.addEventListener("change", () => {
    opened(Array.from(input.files ?? []));
    input.value = "";
  });
  return h("label", { class: "button file-button", for: id }, label, input);
}

/** The same for all files of a folder. */
export function folderButton(label: string, id: string, opened: (files: readonly File[]) => void): HTMLElement {
  const made = fileButton(label, id, "", opened);
  made.querySelector("input")?.toggleAttribute("webkitdirectory", true);
  return made;
}

export const IMAGES = "image/*";

/** What a key stands for when it is pressed alone; it then does nothing else. */
export function goalOf<Goal>(event: KeyboardEvent, goals: Readonly<Record<string, Goal>>): Goal | undefined {
  const goal = event.ctrlKey || event.metaKey || event.altKey ? undefined : goals[event.key];
  if (goal !== undefined) event.preventDefault();
  return goal;
}

/** The detail of an element's own event. */
export function on<Detail>(element: EventTarget, type: string, told: (detail: Detail) => void): void {
  element.addEventListener(type, (event) => {
    if (event instanceof CustomEvent) told(event.detail);
  });
}

type Said = Node | string;

/** An empty name is a corner. */
export function heads(...names: readonly string[]): HTMLElement {
  const cells = names.map((name) => (name === "" ? h("td") : h("th", { scope: "col" }, name)));
  return h("thead", {}, h("tr", {}, ...cells));
}

export function line(name: Said, figures: readonly Said[], look?: string): HTMLTableRowElement {
  return h("tr", { class: look }, h("th", { scope: "row" }, name), ...figures.map((figure) => h("td", {}, figure)));
}

/** Scrolls sideways where there is no room for the table, by keyboard as well. */
export function tableFrame(label: string, table: HTMLElement): HTMLElement {
  return h("div", { class: "table-frame", tabindex: 0, role: "region", "aria-label": label }, table);
}

/** The numbers behind a picture, which the keyboard scrolls as well. */
export function behind(table: HTMLElement, label = "As a table"): HTMLDetailsElement {
  const frame = h("div", { tabindex: 0, role: "group", "aria-label": label }, table);
  return h("details", { class: "as-table" }, h("summary", {}, label), frame);
}

/** A figure in a list of them: its name above, a note beside it. */
export function fact(name: string, value: string, note = "", ...more: readonly HTMLElement[]): HTMLElement {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value, " ", h("small", {}, note), ...more));
}
