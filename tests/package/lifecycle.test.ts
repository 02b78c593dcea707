// Pages that the browser freezes or hides while they compute: everything ends rightly when they are back, and nothing has become slower.

import { mkdir, writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createHeed } from "../../web/src/index.js";
import { GPT2Model } from "../../web/src/layers/index.js";
import { saveModel } from "../../web/src/models/index.js";
import { ISOLATION } from "./support/server.js";
import { StaticHost } from "./support/static-host.js";
import { openChromium } from "./support/visit.js";
import { Window } from "./support/window.js";

const browser = await openChromium();
const host = await StaticHost.make("lifecycle");
afterAll(() => browser.close());
afterEach(() => host.close());

beforeAll(async () => {
  await host.addPage(
    "lifecycle",
    '<link rel="icon" href="data:,"><script type="module" src="./lifecycle.js"></script>',
  );
  const config = { model_type: "gpt2", vocab_size: 50, n_embd: 32, n_layer: 2, n_head: 2, n_positions: 16 };
  using engine = await createHeed({ offload: false });
  const model = new GPT2Model(config, { engine }).init({ seed: 1 });
  await mkdir(host.consumer.path("model"));
  for (const [name, bytes] of await saveModel(model, config)) await writeFile(host.consumer.path("model", name), bytes);
});

interface Repeated {
  readonly times: number;
  readonly wrong: number;
  readonly numbers: number;
  readonly worker: string | null;
  readonly reasons: readonly string[];
}

const SCENES = ["call", "training", "load", "open"];

describe.each([
  ["isolated", ISOLATION, "shared-memory"],
  ["not isolated", {}, "private-memory"],
])("a page that is %s", (_name, headers, worker) => {
  test.each(SCENES)("ends a %s rightly that was under way when it was hidden and frozen", async (scene) => {
    const { address } = await host.serve(headers);
    const page = await Window.open(browser, `${address}lifecycle.html`);
    const until = (expression: string): Promise<void> => expect.poll(() => page.evaluate(expression)).toBe(true);
    try {
      await until('"repeat" in globalThis');
      const repeating = page.evaluate(
        `repeat("${scene}", () => seen.resume > 0 && document.visibilityState === "visible")`,
      );
      await until('"begun" in globalThis');
      await page.show("minimized");
      await until("seen.hidden === 1");
      await page.setState("frozen");
      await until("seen.freeze === 1");
      await page.setState("active");
      await until("seen.resume === 1");
      await page.show("normal");
      const found = (await repeating) as Repeated;
      expect(found).toMatchObject({ wrong: 0, worker });
      expect(found.numbers).toBeGreaterThan(0);
      expect(found.reasons.filter((reason) => /lost|refused/.test(reason))).toEqual([]);
    } finally {
      await page.close();
    }
  });
});
