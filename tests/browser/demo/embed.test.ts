// Pictures in frames of somebody else's page, keys for those who present, and sheets of paper.

import { createServer } from "node:http";
import type { FrameLocator, Locator, Page } from "playwright";
import { describe, expect, test } from "vitest";
import { STOPS } from "../../../demo/rooms/00-thread/state.js";
import { demoInChromium } from "./chromium.js";

const { open, site } = demoInChromium();

/** A page of another origin, which is not isolated, with pictures of the demo in frames. */
async function framed(
  addresses: string | readonly string[],
  use: (page: Page, frame: FrameLocator) => Promise<void>,
): Promise<void> {
  const frames = [addresses]
    .flat()
    .map(
      (one) =>
        `<iframe title="A picture" width="480" height="320" style="border: 0" src="${site().plain}${one}"></iframe>`,
    );
  const html = `<!doctype html><title>Foreign</title>${frames.join("")}`;
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end(html));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const at = server.address();
  const page = await open("docs.html", { alone: true });
  try {
    await page.goto(`http://127.0.0.1:${typeof at === "object" && at !== null ? at.port : 0}/`);
    await use(page, page.frameLocator("iframe"));
  } finally {
    await page.goto("about:blank");
    server.close();
  }
}

/** In the frame. */
async function bottomOf(within: Locator, page: Page, index: number): Promise<number> {
  const [inside, outside] = [await within.boundingBox(), await page.locator("iframe").nth(index).boundingBox()];
  return (inside?.y ?? 0) + (inside?.height ?? Number.NaN) - (outside?.y ?? 0);
}

/** A slider goes first. */
async function moverIn(frame: FrameLocator): Promise<Locator> {
  const sliders = frame.locator(".embedded input[type='range']:enabled:visible");
  return (await sliders.count()) > 0 ? sliders.first() : frame.locator(".embedded fieldset:visible").first();
}
/** The value of a slider, or the chosen one of several. */
const placeOf = (input: Locator): Promise<string> =>
  input.evaluate((one) =>
    one instanceof HTMLInputElement ? one.value : (one.querySelector<HTMLInputElement>(":checked")?.value ?? ""),
  );

const scrubber = (frame: FrameLocator) => frame.locator(".embedded .board-scrubber > input").first();

/** Every picture that has something to move: a scrubber, a slider or a choice. */
const MOVED = {
  dictionary: ["cabinet"],
  "matrix-walk": ["walk"],
  "score-lab": ["lab"],
  scale: ["row", "curves"],
  masks: ["mask", "cost"],
  heads: ["heads", "layers", "counts"],
  order: ["words", "positions"],
  "what-else": ["convolution", "layer", "fast-weights", "set", "graph", "reach"],
  learning: ["gradients"],
  translation: ["translation", "beam"],
  language: ["language", "head"],
  "bring-your-own": ["map"],
  "five-minutes": STOPS,
};
const STILL = {
  dictionary: ["curve", "tastes", "numbers"],
  "score-lab": ["cost"],
  scale: ["slopes"],
  order: ["trials"],
  learning: ["training", "lessons"],
  translation: ["scores", "training"],
  language: ["cache"],
  "bring-your-own": ["cells", "model"],
};

describe("in a frame of 480 x 320", () => {
  test.each(Object.entries(MOVED))("what moves in %s is moved by a message and by a key", async (room, pictures) => {
    const addresses = pictures.map((name) => `${room}.html?embed=${name}`);
    await framed(addresses, async (page) => {
      for (const [index, name] of pictures.entries()) {
        const frame = page.frameLocator(`iframe >> nth=${index}`);
        // A frame out of sight draws nothing.
        await page.locator("iframe").nth(index).scrollIntoViewIfNeeded();
        await expect
          .poll(() => bottomOf(frame.locator(".embedded"), page, index), { message: name })
          .toBeLessThanOrEqual(320);
        const input = await moverIn(frame);
        const send = (at: number): Promise<void> =>
          page.evaluate(([place, at]) => frames[place]?.postMessage({ at }, "*"), [index, at] as const);
        await send(0);
        const first = await placeOf(input);
        await send(1);
        await expect.poll(() => placeOf(input), { message: name }).not.toBe(first);
        const last = await placeOf(input);
        await frame.locator(".embedded").click({ position: { x: 2, y: 2 } });
        await page.keyboard.press("ArrowLeft");
        await expect.poll(() => placeOf(input), { message: name }).not.toBe(last);
      }
    });
  });

  test.each(Object.entries(STILL))("what is still in %s stands alone", async (room, pictures) => {
    const addresses = pictures.map((name) => `${room}.html?embed=${name}`);
    await framed(addresses, async (page) => {
      for (const [index, name] of pictures.entries()) {
        const embedded = page.frameLocator(`iframe >> nth=${index}`).locator(".embedded");
        await embedded.waitFor();
        await expect.poll(() => bottomOf(embedded, page, index), { message: name }).toBeLessThanOrEqual(320);
        expect(await embedded.getAttribute("data-picture")).toBe(name);
      }
    });
  });

  test.each([
    ["matrix-walk.html?embed=walk&at=0.5", 4],
    ["masks.html?embed=mask&at=0.5", 0.5],
    ["heads.html?embed=heads&at=1", 4],
    ["what-else.html?embed=convolution&at=0.5", 1.5],
    ["order.html?embed=words&at=0.5", 0.5],
  ])("%s shows its picture alone, as far as was said", async (address, place) => {
    await framed(address, async (_page, frame) => {
      await scrubber(frame).waitFor();
      await expect.poll(async () => Number(await scrubber(frame).inputValue())).toBe(place);
      for (const part of [".masthead", ".rooms", "footer.bottom", ".readout", "h1"])
        expect(await frame.locator(part).first().isVisible(), part).toBe(false);
      expect(await frame.locator(".board:visible").count()).toBe(1);
    });
  });

  test("a message and the arrow keys move it", async () => {
    await framed("masks.html?embed=mask&at=0", async (page, frame) => {
      await scrubber(frame).waitFor();
      await expect.poll(() => scrubber(frame).inputValue()).toBe("0");
      await page.evaluate(() => frames[0]?.postMessage({ at: 0.25 }, "*"));
      await expect.poll(() => scrubber(frame).inputValue()).toBe("0.25");
      await page.evaluate(() => frames[0]?.postMessage({ at: "far" }, "*"));
      await frame.locator(".embedded").click({ position: { x: 2, y: 2 } });
      await page.keyboard.press("ArrowRight");
      await expect.poll(() => scrubber(frame).inputValue()).toBe("1");
      await page.keyboard.press("ArrowLeft");
      await expect.poll(() => scrubber(frame).inputValue()).toBe("0");
    });
  });

  test("what is locked stays as the address has it, and its control is away", async () => {
    const page = await open("scale.html?embed=row&lock=d#d=16");
    await page.locator(".embedded").waitFor();
    const width = page.getByRole("slider", { name: "Width d" });
    expect(await width.isVisible()).toBe(false);
    const free = await open("scale.html?embed=row#d=16");
    expect(await free.getByRole("slider", { name: "Width d" }).isVisible()).toBe(true);
  });

  test("a stop of the thread stands alone as well", async () => {
    const page = await open("five-minutes.html?embed=softmax#raise=2", { viewport: { width: 480, height: 320 } });
    await expect.poll(() => page.locator('.thread-picture [data-word="animal"]').innerHTML()).toMatch(/^8\d/);
    for (const part of ["h1", ".thread-text", ".masthead"])
      expect(await page.locator(part).first().isVisible()).toBe(false);
  });
});

describe("keys for those who present", () => {
  test("step the picture and blank what is said of it, and only when they are asked for", async () => {
    const page = await open("masks.html?present");
    const input = page.locator(".board-scrubber > input").first();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => input.inputValue()).toBe("0");
    const said = page.locator('[data-picture="mask"] .picture-text');
    await page.keyboard.press("b");
    expect(await said.isVisible()).toBe(false);
    await page.keyboard.press("b");
    expect(await said.isVisible()).toBe(true);
    const other = await open("masks.html");
    await other.keyboard.press("b");
    await other.keyboard.press("ArrowLeft");
    expect(await other.locator('[data-picture="mask"] .picture-text').isVisible()).toBe(true);
    expect(await other.locator(".board-scrubber > input").first().inputValue()).toBe("1");
  });

  test("go from stop to stop", async () => {
    const page = await open("five-minutes.html?present", { reducedMotion: "reduce" });
    for (const stop of ["A soft dictionary", "Three roles"]) {
      await page.keyboard.press("PageDown");
      await expect.poll(() => page.locator(".thread-head p").innerText()).toContain(stop);
    }
  });
});

describe("on paper", () => {
  test("each stop is a sheet to fill in, and its back has the answers", async () => {
    const page = await open("five-minutes.html");
    expect(await page.locator(".sheet").count()).toBe(0);
    await page.emulateMedia({ media: "print" });
    await expect.poll(() => page.locator(".sheet").count()).toBe(20);
    for (const part of ["#theme", ".thread", "footer.bottom"]) expect(await page.locator(part).isVisible()).toBe(false);
    const [front, back] = [page.locator(".sheet").nth(10), page.locator(".sheet").nth(11)];
    expect(await front.locator("h2").innerText()).toBe("Softmax");
    const shown = (sheet: typeof front): Promise<string[]> =>
      sheet
        .locator("[data-word]")
        .evaluateAll((all) =>
          all.filter((one) => getComputedStyle(one).visibility === "visible").map((one) => one.innerHTML),
        );
    expect((await shown(front)).join("")).toBe("");
    expect(await shown(back)).toContain("41&nbsp;%");
    expect(await front.innerText()).not.toMatch(/41/);
    await page.emulateMedia({ media: "screen" });
    await expect.poll(() => page.locator(".sheet").count()).toBe(0);
  });

  test("bars are printed with their colours", async () => {
    const page = await open("scale.html");
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).printColorAdjust)).toBe("exact");
    expect(await page.locator("#theme").isVisible()).toBe(false);
  });
});

test("a link in a chat has a title, a sentence and a picture", async () => {
  const page = await open("scale.html");
  const og = (name: string): Promise<string | null> =>
    page.locator(`meta[property="og:${name}"]`).getAttribute("content");
  expect(await og("title")).toMatch(/^Scale .*· heed$/);
  expect((await og("description"))?.length).toBeGreaterThan(40);
  const image = await fetch(new URL((await og("image")) ?? "", page.url()));
  expect(image.status).toBe(200);
  expect(Array.from(new Uint8Array(await image.arrayBuffer()).slice(1, 4))).toEqual([80, 78, 71]);
});
