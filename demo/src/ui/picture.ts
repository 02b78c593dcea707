// A picture: its heading, what works it below, a sentence, and buttons to take it away.

import { button, h, indexed, setAttributes } from "./dom.js";
import { saveJson, savePng, saveSvg } from "./save.js";

export interface Picture {
  readonly element: HTMLElement;
  readonly say: (text: string) => void;
}

export interface Controls {
  /** In sight: one, or what depends on its choice as well. */
  readonly controls?: readonly HTMLElement[];
  /** In a drawer. */
  readonly more?: readonly HTMLElement[];
  /** A drawer of their own. */
  readonly numbers?: HTMLElement;
}

export interface PictureParts extends Controls {
  /** Of the file that it is saved as. */
  readonly name: string;
  readonly title: string;
  readonly body: readonly HTMLElement[];
  /** What the picture shows, as numbers. */
  readonly data: () => unknown;
  /** Beside the sentence: a formula, say. */
  readonly aside?: Element;
}

export function picture({ name, title, body, data, aside, ...controls }: PictureParts): Picture {
  const text = h("p", { class: "picture-text" });
  const content = h("div", { class: "picture-body" }, ...body);
  const head = h("h2", { class: "picture-head" }, title);
  const beside = aside === undefined ? [] : [h("div", { class: "picture-aside" }, aside)];
  const foot = h("div", { class: "picture-foot" }, text, ...beside, saving(name, `“${title}”`, content, data));
  return {
    element: h("section", { class: "picture", "data-picture": name }, head, content, ...below(controls), foot),
    say: (said) => {
      text.replaceChildren(...indexed(said));
    },
  };
}

/** Which colour is what, by the names of tones; `line` is a line of any. */
export function inColours(tones: Readonly<Record<string, string>>): (Node | string)[] {
  return Object.entries(tones).flatMap(([tone, text], index) => [
    index === 0 ? "" : "\u2003",
    h("span", { class: `tone-${tone}`, "aria-hidden": "true" }, tone === "line" ? "—\u00a0" : "■\u00a0"),
    text,
  ]);
}

export function legend(tones: Readonly<Record<string, string>>): HTMLElement {
  return h("p", { class: "small-label" }, ...inColours(tones));
}

/** What works a picture, as it stands below it. */
function below({ controls = [], more = [], numbers }: Controls): HTMLElement[] {
  const row = (some: readonly HTMLElement[]): HTMLElement => h("div", { class: "controls-options" }, ...some);
  return [
    ...(controls.length > 0 ? [row(controls)] : []),
    ...(more.length > 0 ? [drawer("More to change", row(more))] : []),
    ...(numbers === undefined ? [] : [numbers]),
  ];
}

export function drawer(title: string, ...inside: readonly HTMLElement[]): HTMLDetailsElement {
  return h("details", { class: "more" }, h("summary", {}, title), ...inside);
}

function saving(name: string, title: string, content: HTMLElement, data: () => unknown): HTMLElement {
  const file = `heed-${name}`;
  const failed = h("span", { role: "status" });
  const tool = (kind: string, save: () => void | Promise<void>): HTMLButtonElement => {
    const press = async (): Promise<void> => {
      failed.textContent = "";
      try {
        await save();
      } catch (error) {
        failed.textContent = `Not saved: ${error instanceof Error ? error.message : String(error)}.`;
      }
    };
    const made = button(kind, () => void press(), "link");
    setAttributes(made, { "data-save": kind, "aria-label": `Save ${title} as ${kind}` });
    return made;
  };
  const tools = [
    tool("SVG", () => saveSvg(file, content)),
    tool("PNG", () => savePng(file, content)),
    tool("JSON", () => saveJson(file, data())),
  ];
  return h("div", { class: "saving" }, h("span", { class: "small-label" }, "Save as"), ...tools, failed);
}
