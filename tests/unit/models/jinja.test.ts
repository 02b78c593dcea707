// Where chat templates are rendered: by a module at hand, by one at an address, and in a worker that may be stopped.

import { afterEach, describe, expect, test, vi } from "vitest";
import { renderChat } from "../../../web/src/layers/text/index.js";
import { findJinja } from "../../../web/src/layers/text/jinja.js";
import { errorOf } from "../../support/cases.js";

const SOURCE = "export class Template { constructor(s) { this.s = s; } render({ x }) { return this.s + x; } }";
const ADDRESS = `data:text/javascript,${encodeURIComponent(SOURCE)}`;

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("by a module, or its address", async () => {
  class Template {
    readonly #source: string;
    constructor(source: string) {
      this.#source = source;
    }
    render(values: Readonly<Record<string, unknown>>): string {
      return `${this.#source}!${values["x"]}`;
    }
  }
  expect(await (await findJinja("test", { Template }, null))("a", { x: 1 })).toBe("a!1");
  expect(await (await findJinja("test", ADDRESS, null))("a", { x: 1 })).toBe("a1");
  expect(await (await findJinja("test", new URL(ADDRESS), null))("b", { x: 2 })).toBe("b2");
});

test("what is none is refused, and what is missing is named with what to install", async () => {
  for (const wrong of [7, {}, null]) {
    expect(await errorOf(() => findJinja("test", wrong, null))).toMatchObject({ code: "option" });
  }
  expect(await errorOf(() => findJinja("test", undefined, null, "@huggingface/not-there"))).toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(/npm install @huggingface\/jinja.*loadModel\(source, \{ jinja \}\)/),
  });
});

describe("in a thread of Node's", () => {
  const moduleOf = (render: string): string =>
    `data:text/javascript,${encodeURIComponent(`export class Template { render(values) { ${render} } }`)}`;

  test("a template that does not end is stopped, and the next one is rendered", async () => {
    const endless = await findJinja("test", moduleOf("for (;;);"), null);
    await expect(endless("a", {})).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/must end within 5000 ms/),
    });
    expect(await (await findJinja("test", ADDRESS, null))("a", { x: 1 })).toBe("a1");
  });

  test("a signal ends it, and its thread", async () => {
    const aborting = new AbortController();
    const started = performance.now();
    const endless = await findJinja("test", moduleOf("for (;;);"), aborting.signal);
    setTimeout(() => aborting.abort(), 50);
    await expect(endless("a", {})).rejects.toMatchObject({ code: "aborted" });
    expect(performance.now() - started).toBeLessThan(4000);
  });

  test("what fails in it, or takes too much memory, is an error", async () => {
    const failing = await findJinja("test", moduleOf("throw new Error('no such role');"), null);
    await expect(failing("a", {})).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/no such role/),
    });
    const large = await findJinja(
      "test",
      moduleOf("const all = []; for (;;) all.push({ values, all: [...all] });"),
      null,
    );
    await expect(large("a", {})).rejects.toMatchObject({ name: "HeedError" });
    const none = await findJinja("test", "data:text/javascript,export const a = 1", null);
    await expect(none("a", {})).rejects.toMatchObject({ name: "HeedError" });
    await expect((await findJinja("test", ADDRESS, null))("a", { x: () => {} })).rejects.toThrow();
  });
});

describe("in a worker", () => {
  /** Answers as a page's worker would, with this. */
  function stub(answer: (made: { onmessage?: (event: { data: unknown }) => void }) => void) {
    const ended: string[] = [];
    class FakeWorker {
      onmessage?: (event: { data: unknown }) => void;
      onerror?: (event: { message: string }) => void;
      postMessage(): void {
        answer(this);
      }
      terminate(): void {
        ended.push("ended");
      }
    }
    vi.stubGlobal("Worker", FakeWorker);
    return ended;
  }

  test("its text comes back, and it ends", async () => {
    const ended = stub((made) => made.onmessage?.({ data: { text: "hello" } }));
    expect(await (await findJinja("test", ADDRESS, null))("a", {})).toBe("hello");
    expect(ended).toEqual(["ended"]);
  });

  test("its error is one of the template's", async () => {
    const ended = stub((made) => made.onmessage?.({ data: { error: "no such role" } }));
    const render = await findJinja("test", ADDRESS, null);
    await expect(render("a", {})).rejects.toMatchObject({
      code: "option",
      message: "test: the model's chat template failed: no such role",
    });
    expect(ended).toEqual(["ended"]);
  });

  test("a template that does not end is stopped", async () => {
    vi.useFakeTimers();
    const ended = stub(() => {});
    const render = await findJinja("test", ADDRESS, null);
    const rendering = expect(render("{% for x in y %}", {})).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/must end within 5000 ms/),
    });
    await vi.advanceTimersByTimeAsync(5001);
    await rendering;
    expect(ended).toEqual(["ended"]);
  });
});

describe("renderChat", () => {
  const messages = [
    { role: "system", content: "Short." },
    { role: "user", content: "Hello" },
  ];
  const template = "[role] content";
  /** Of a language in which a template is an example of a turn. */
  const jinja = {
    Template: class {
      readonly #turn: string;
      constructor(turn: string) {
        if (!turn.includes("role")) throw new Error("no role");
        this.#turn = turn;
      }
      render(values: Readonly<Record<string, unknown>>): string {
        const turns = [...(values["messages"] as typeof messages)];
        if (values["add_generation_prompt"] === true) turns.push({ role: "assistant", content: "" });
        const written = turns.map(({ role, content }) => this.#turn.replace("role", role).replace("content", content));
        return [values["bos_token"], ...written].join("");
      }
    },
  };

  test("writes a dialogue by a template, with the variables that it names", async () => {
    expect(await renderChat(template, messages, { jinja })).toBe("[system] Short.[user] Hello[assistant] ");
    const variables = { bos_token: "<s>", add_generation_prompt: false };
    expect(await renderChat(template, messages, { jinja, variables })).toBe("<s>[system] Short.[user] Hello");
  });

  test("refuses what is none of these", async () => {
    const wrong = [
      [7, messages, { jinja }],
      [template, "Hello", { jinja }],
      [template, [{ content: "Hello" }], { jinja }],
      [template, messages, { jinja, variables: 7 }],
      [template, messages, { jinja, tools: [] }],
      [template, messages, { jinja: 7 }],
      ["{% for %}", messages, { jinja }],
    ];
    for (const given of wrong) {
      expect(await errorOf(() => Reflect.apply(renderChat, null, given))).toMatchObject({ code: "option" });
    }
    const signal = AbortSignal.abort();
    expect(await errorOf(() => renderChat(template, messages, { signal }))).toMatchObject({ code: "aborted" });
  });
});
