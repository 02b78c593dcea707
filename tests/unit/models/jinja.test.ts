// Where chat templates are rendered: by a module at hand, by one at an address, and in a worker that may be stopped.

import { afterEach, describe, expect, test, vi } from "vitest";
import { findJinja } from "../../../web/src/models/jinja.js";
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
  expect(await (await findJinja("test", { Template }))("a", { x: 1 })).toBe("a!1");
  expect(await (await findJinja("test", ADDRESS))("a", { x: 1 })).toBe("a1");
  expect(await (await findJinja("test", new URL(ADDRESS)))("b", { x: 2 })).toBe("b2");
});

test("what is none is refused, and what is missing is named with what to install", async () => {
  for (const wrong of [7, {}, null]) {
    expect(await errorOf(() => findJinja("test", wrong))).toMatchObject({ code: "option" });
  }
  expect(await errorOf(() => findJinja("test", undefined, "@huggingface/not-there"))).toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(/npm install @huggingface\/jinja.*loadModel\(source, \{ jinja \}\)/),
  });
});

describe("in a thread of Node's", () => {
  const moduleOf = (render: string): string =>
    `data:text/javascript,${encodeURIComponent(`export class Template { render(values) { ${render} } }`)}`;

  test("a template that does not end is stopped, and the next one is rendered", async () => {
    const endless = await findJinja("test", moduleOf("for (;;);"));
    await expect(endless("a", {})).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/must end within 5000 ms/),
    });
    expect(await (await findJinja("test", ADDRESS))("a", { x: 1 })).toBe("a1");
  });

  test("what fails in it, or takes too much memory, is an error", async () => {
    const failing = await findJinja("test", moduleOf("throw new Error('no such role');"));
    await expect(failing("a", {})).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/no such role/),
    });
    const large = await findJinja("test", moduleOf("const all = []; for (;;) all.push({ values, all: [...all] });"));
    await expect(large("a", {})).rejects.toMatchObject({ name: "HeedError" });
    const none = await findJinja("test", "data:text/javascript,export const a = 1");
    await expect(none("a", {})).rejects.toMatchObject({ name: "HeedError" });
    await expect((await findJinja("test", ADDRESS))("a", { x: () => {} })).rejects.toThrow();
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
    expect(await (await findJinja("test", ADDRESS))("a", {})).toBe("hello");
    expect(ended).toEqual(["ended"]);
  });

  test("its error is one of the template's", async () => {
    const ended = stub((made) => made.onmessage?.({ data: { error: "no such role" } }));
    const render = await findJinja("test", ADDRESS);
    await expect(render("a", {})).rejects.toMatchObject({
      code: "option",
      message: "test: the model's chat template failed: no such role",
    });
    expect(ended).toEqual(["ended"]);
  });

  test("a template that does not end is stopped", async () => {
    vi.useFakeTimers();
    const ended = stub(() => {});
    const render = await findJinja("test", ADDRESS);
    const rendering = expect(render("{% for x in y %}", {})).rejects.toMatchObject({
      code: "option",
      message: expect.stringMatching(/must end within 5000 ms/),
    });
    await vi.advanceTimersByTimeAsync(5001);
    await rendering;
    expect(ended).toEqual(["ended"]);
  });
});
