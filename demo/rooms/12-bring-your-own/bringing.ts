// Where arrays come in: files that are opened or dropped, JSON that is pasted; and what each of them is taken for.

import { h } from "../../src/ui/dom.js";
import { whole } from "../../src/ui/numbers.js";
import { FileTrouble, type NamedArray, shown } from "./arrays.js";
import { readJson } from "./json-arrays.js";
import { readFiles } from "./read-files.js";
import { guessRoles, ROLES, type Role, type Source, sourceFrom } from "./source.js";

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  q: "queries",
  k: "keys",
  v: "values",
  weights: "weights",
  none: "not used",
};

/** A model has hundreds. */
const MOST_LISTED = 60;

export class Bringing {
  readonly element: HTMLElement;
  readonly #brought: (source: Source) => void;
  readonly #message = h("p", { class: "field-message", role: "status" });
  readonly #list = h("div", { class: "brought" });
  #arrays: readonly NamedArray[] = [];
  #roles: Role[] = [];

  constructor(brought: (source: Source) => void) {
    this.#brought = brought;
    const file = h("input", { type: "file", multiple: true, accept: ".npy,.json,.safetensors", id: "arrays" });
    file.addEventListener("change", () => {
      void this.#read(() => readFiles(Array.from(file.files ?? [])));
      file.value = "";
    });
    const pasted = h("textarea", {
      rows: 3,
      id: "pasted",
      spellcheck: "false",
      placeholder: '{ "q": [[1, 0], [0, 1]], "k": [[1, 0], [0, 1]] }',
    });
    const take = h("button", { type: "button", class: "button" }, "Take this");
    take.addEventListener("click", () => void this.#read(async () => readJson("pasted", pasted.value)));
    this.element = h(
      "details",
      { class: "bringing" },
      h("summary", {}, "Bring your own arrays"),
      h(
        "p",
        { class: "small-label" },
        "Drop files anywhere on this page. Queries and keys, [layers, heads, tokens, width], with fewer axes where there is one of a kind; or weights, [layers, heads, queries, keys]. They stay on this device.",
      ),
      h(
        "div",
        { class: "bringing-ways" },
        h("label", { class: "button file-button", for: "arrays" }, "Open npy, JSON or safetensors…", file),
        h("div", { class: "field" }, h("label", { for: "pasted" }, "or paste JSON"), pasted, take),
      ),
      this.#list,
      this.#message,
    );
    this.#listenToDrops();
  }

  /** Said where the address asks for arrays that are not there. */
  show(missing: boolean): void {
    if (missing && this.#arrays.length === 0) {
      this.element.setAttribute("open", "");
      this.#message.textContent =
        "The arrays of this address are on the device that it comes from. Until you bring some, the example stands in.";
    }
  }

  #listenToDrops(): void {
    document.addEventListener("dragover", (event) => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    document.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) document.body.classList.remove("dropping");
    });
    document.addEventListener("drop", (event) => {
      document.body.classList.remove("dropping");
      const files = Array.from(event.dataTransfer?.files ?? []);
      if (files.length === 0) return;
      event.preventDefault();
      this.element.setAttribute("open", "");
      void this.#read(() => readFiles(files));
    });
  }

  async #read(read: () => Promise<readonly NamedArray[]>): Promise<void> {
    this.#message.textContent = "Reading …";
    try {
      this.#arrays = await read();
      this.#roles = [...guessRoles(this.#arrays)];
      this.#showList();
    } catch (error) {
      this.#complain(error);
      return;
    }
    this.#take();
  }

  #take(): void {
    try {
      const source = sourceFrom(this.#arrays, this.#roles);
      const { layers, heads, queries, keys } = source;
      this.#message.textContent = `Taken: ${count(layers, "layer")}, ${count(heads, "head")}, ${whole(queries)} queries, ${whole(keys)} keys.`;
      this.#brought(source);
    } catch (error) {
      this.#complain(error);
    }
  }

  #complain(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#message.textContent = error instanceof FileTrouble ? why : `It could not be read: ${why}.`;
  }

  #showList(): void {
    const hidden = Math.max(0, this.#arrays.length - MOST_LISTED);
    const more = hidden === 0 ? [] : [h("p", {}, `and ${hidden} more`)];
    this.#list.replaceChildren(
      ...this.#arrays.slice(0, MOST_LISTED).map(({ name, shape }, index) => {
        const select = h(
          "select",
          { "aria-label": `What ${name} is` },
          ...ROLES.map((role) => h("option", { value: role, selected: role === this.#roles[index] }, ROLE_NAMES[role])),
        );
        select.addEventListener("change", () => {
          this.#roles[index] = ROLES.find((role) => role === select.value) ?? "none";
          this.#take();
        });
        return h("p", {}, h("b", {}, name), ` ${shown(shape)} `, select);
      }),
      ...more,
    );
  }
}

function count(many: number, what: string): string {
  return `${many} ${what}${many === 1 ? "" : "s"}`;
}
