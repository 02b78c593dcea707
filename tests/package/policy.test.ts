import { afterAll, afterEach, describe, expect, test } from "vitest";
import { paragraphWith, quotedIn, tableUnder } from "./support/guide.js";
import { type Headers, ISOLATION } from "./support/server.js";
import { pageOf, StaticHost } from "./support/static-host.js";
import { expectWorker, openChromium, visit } from "./support/visit.js";

const HEADING = "Content Security Policy";
const MODULES: Readonly<Record<string, string>> = { "`heed`": "/heed/index.js", "`heed/assets`": "/heed/assets.js" };
/** Where a cell says that calls compute: without isolation, and with. */
const PLACES: Readonly<Record<string, readonly [string | null, string | null]>> = {
  "in workers": ["private-memory", "shared-memory"],
  "on the page's thread": [null, null],
};

const [least = ""] = quotedIn(paragraphWith("The least that heed needs", HEADING));
const [[, ...entries] = [], ...rows] = tableUnder(HEADING);
const cells = rows.flatMap(([policy = "", ...places]) =>
  places.map((place, i) => {
    const [directives] = policy.startsWith("`") ? quotedIn(policy) : [];
    const full = directives === undefined ? least : `${least}; ${directives}`;
    return [full, MODULES[entries[i] ?? ""] ?? "", place] as const;
  }),
);

const browser = await openChromium();
const host = await StaticHost.make("policy");
afterAll(() => browser.close());
afterEach(() => host.close());

const policed = (policy: string, headers: Headers = {}) =>
  host.serve({ ...headers, "Content-Security-Policy": policy });

test("the table has its rows", () => expect(cells.length).toBeGreaterThanOrEqual(10));

describe.each(cells)("under %s, %s computes %s", (policy, module, place) => {
  const [plain, isolated] = PLACES[place] ?? ["?", "?"];

  test.each([
    ["without isolation", {}, plain],
    ["isolated", ISOLATION, isolated],
  ])("%s", async (_name, headers, worker) => {
    expectWorker(await visit(browser, pageOf(await policed(policy, headers), { module })), worker);
  });
});

test("the default of all else may be nothing but the page's own", async () => {
  const site = await policed(`default-src 'self'; ${least}`);
  expectWorker(await visit(browser, pageOf(site, { module: "/heed/assets.js" })), "private-memory");
});

test.each([
  ["that forbids WebAssembly", least.replace(" 'wasm-unsafe-eval'", ""), "/heed/index.js", /(?:unsafe-eval|wasm)/],
  ["that forbids WebAssembly", least.replace(" 'wasm-unsafe-eval'", ""), "/heed/assets.js", /(?:unsafe-eval|wasm)/],
  ["that forbids to fetch", `${least}; connect-src 'none'`, "/heed/assets.js", /cannot fetch/],
])("a policy %s (%s, %s) is a HeedError that says so", async (_name, policy, module, message) => {
  const { failure } = await visit(browser, pageOf(await policed(policy), { module }));
  expect(failure).toMatch(/^load: createHeed: /);
  expect(failure).toMatch(message);
});

test("on the page's thread a call is in slices, between which the page goes on", async () => {
  await host.addPage("turns", '<script type="module" src="./turns.js"></script>');
  const { address } = await policed(least);
  const found = await visit<{ turns: number; worker: string | null }>(browser, `${address}turns.html`);
  expect(found).toMatchObject({ worker: null });
  // Without slices there would be none.
  expect(found.turns).toBeGreaterThan(3);
});
