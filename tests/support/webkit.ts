// Lets Vitest run tests in WebKitGTK's MiniBrowser, through its WebDriver: the one WebKit that Linux has.

import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { defineBrowserProvider } from "@vitest/browser";
import type { BrowserProvider, BrowserProviderOption } from "vitest/node";

export interface WebKit {
  /** WebKitWebDriver. */
  readonly driver: string;
  readonly browser: string;
  /** xvfb-run: MiniBrowser wants a display, and no one looks at it. */
  readonly display: string;
  /** Options of the engine's, as variables of the environment. */
  readonly engine: Readonly<Record<string, string>>;
}

export function webkit(options: WebKit): BrowserProviderOption {
  return defineBrowserProvider({
    name: "webkit",
    supportedBrowser: ["webkit"],
    providerFactory: () => new WebKitProvider(options),
  });
}

const START_MS = 30_000;

class WebKitProvider implements BrowserProvider {
  readonly name = "webkit";
  readonly supportsParallelism = false;
  readonly #session: WebKitSession;

  constructor(options: WebKit) {
    this.#session = new WebKitSession(options);
  }

  getCommandsContext(): Record<string, unknown> {
    return {};
  }

  openPage(_sessionId: string, url: string): Promise<void> {
    return this.#session.go(url);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

/** A window of MiniBrowser's, which opens with the first page. */
export class WebKitSession {
  readonly #options: WebKit;
  #driver: ChildProcess | undefined;
  #session: Promise<string> | undefined;

  constructor(options: WebKit) {
    this.#options = options;
  }

  async go(url: string): Promise<void> {
    this.#session ??= this.#open();
    await ask("POST", `${await this.#session}/url`, { url });
  }

  /** What an expression is worth in the page. */
  async valueOf(expression: string): Promise<unknown> {
    return ask("POST", `${await this.#session}/execute/sync`, { script: `return ${expression}`, args: [] });
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    if (session !== undefined) await ask("DELETE", session).catch(() => {});
    // The display's server is a child of a child: the whole group goes.
    if (this.#driver?.pid !== undefined) process.kill(-this.#driver.pid);
  }

  /** Starts driver and browser. Resolves to the session's address. */
  async #open(): Promise<string> {
    const { driver, browser, display, engine } = this.#options;
    const port = await freePort();
    const child = spawn(display, ["-a", driver, "-p", String(port)], {
      env: { ...process.env, ...engine },
      stdio: "ignore",
      detached: true,
    });
    this.#driver = child;
    const address = `http://127.0.0.1:${port}`;
    await ready(address);
    const alwaysMatch = {
      browserName: "MiniBrowser",
      "webkitgtk:browserOptions": { binary: browser, args: ["--automation"] },
    };
    const { sessionId } = await ask("POST", `${address}/session`, { capabilities: { alwaysMatch } });
    return `${address}/session/${String(sessionId)}`;
  }
}

async function ask(method: string, url: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const answer: { readonly value: Readonly<Record<string, unknown>> | null } = await (await fetch(url, init)).json();
  if (typeof answer.value?.["error"] === "string") {
    throw new Error(`WebKitWebDriver: ${answer.value["error"]}: ${String(answer.value["message"])}`);
  }
  return answer.value ?? {};
}

async function ready(address: string): Promise<void> {
  for (const start = performance.now(); ; ) {
    const isReady = await ask("GET", `${address}/status`).then(
      () => true,
      () => false,
    );
    if (isReady) return;
    if (performance.now() - start > START_MS) throw new Error("WebKitWebDriver did not start");
    await new Promise((done) => setTimeout(done, 100));
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const at = server.address();
      server.close(() => resolve(typeof at === "object" && at !== null ? at.port : 0));
    });
  });
}
