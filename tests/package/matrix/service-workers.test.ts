// What docs/hosting.md says of service workers, tried in Chromium: in one script heed computes there, and in several it says what is missing.

import { readdir, writeFile } from "node:fs/promises";
import { afterAll, describe, expect, test } from "vitest";
import { Consumer } from "../support/consumer.js";
import { paragraphWith, quotedIn, tableUnder } from "../support/guide.js";
import { expectParts, type Parts } from "../support/parts.js";
import { type Headers, STRICT, serve } from "../support/server.js";
import { ONE_SCRIPT, oneScript } from "../support/service-worker.js";
import { expectWorker, openChromium, type Visit, visit } from "../support/visit.js";

const HEADING = "Service workers";

const browser = await openChromium();
afterAll(() => browser.close());

/** What the service worker of a project answers. */
async function answerOf<Left = Visit>(consumer: Consumer, headers: Headers = {}): Promise<Left> {
  const page = `
    import { leave } from "./compute.js";
    await navigator.serviceWorker.register("service-worker.js", { type: "module" });
    const { port1, port2 } = new MessageChannel();
    leave(new Promise((answer) => { port1.onmessage = ({ data }) => answer(data); }));
    (await navigator.serviceWorker.ready).active.postMessage(null, [port2]);
  `;
  await writeFile(consumer.path("dist/page.js"), page);
  await consumer.add("page/compute.js", "dist/compute.js");
  const html = '<!doctype html><title>service worker</title><script type="module" src="page.js"></script>';
  await writeFile(consumer.path("dist/index.html"), html);
  const site = await serve({ "/": consumer.path("dist") }, headers);
  try {
    return await visit<Left>(browser, site.address);
  } finally {
    site.close();
  }
}

test("the guide's table has what is tried here", () => {
  const [, ...rows] = tableUnder(HEADING);
  const said = rows.flatMap(([commands = "", entry = ""]) =>
    quotedIn(commands).map((command) => [command, quotedIn(entry)[0]]),
  );
  expect(said).toEqual(Object.entries(ONE_SCRIPT).map(([command, { entry }]) => [command, entry]));
});

describe.each(Object.entries(ONE_SCRIPT))("of %s", (words, how) => {
  test("it computes, under a policy that allows no more than WebAssembly", async () => {
    const consumer = await oneScript(`service-worker-${words.replaceAll(/\W+/g, "-")}`, how);
    const scripts = (await readdir(consumer.path("dist"))).filter((file) => file.endsWith(".js"));
    expect(scripts).toEqual(["service-worker.js"]);
    expectWorker(await answerOf(consumer, { "Content-Security-Policy": STRICT }), null);
  });
});

test("every part of the package computes there", async () => {
  const consumer = await Consumer.make("service-worker-parts", "page");
  const script = `
    import { parts } from "./parts.js";
    const keep = (files) => Object.fromEntries([...files].map(([name, bytes]) => [name, new Blob([bytes])]));
    addEventListener("message", ({ ports }) => parts(keep).then((found) => ports[0].postMessage(found)));
  `;
  await writeFile(consumer.path("service-worker.js"), script);
  const [program, ...words] = ONE_SCRIPT["esbuild --bundle"]?.command ?? ["?"];
  await consumer.tool(program, ...words, "--external:@huggingface/jinja");
  const found = await answerOf<Parts>(consumer);
  expectParts(found);
  expect(found.worker).toBe(null);
});

test("in several scripts it has to import, which is refused", async () => {
  const consumer = await Consumer.make("service-worker-splitting", "page");
  const options = ["--bundle", "--splitting", "--format=esm", "--outdir=dist"];
  await consumer.tool("esbuild/bin/esbuild", "service-worker.js", ...options);
  const { failure } = await answerOf(consumer);
  expect(failure).toMatch(/^load: createHeed: .*import\(\) is disallowed/);
  expect(quotedIn(paragraphWith("rejects", HEADING))).toContain(failure?.split(":")[0]);
});
