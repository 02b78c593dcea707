// A window that can be hidden and frozen, as a user's. Playwright's own pages always stay visible, and those are never frozen.

import type { Browser, CDPSession } from "playwright";

interface Target {
  readonly targetId: string;
  readonly sessionId: string;
}

export class Window {
  readonly #session: CDPSession;
  readonly #target: Target;
  readonly #waiting = new Map<number, (answer: { result?: object; error?: { message: string } }) => void>();
  #sent = 0;

  private constructor(session: CDPSession, target: Target) {
    this.#session = session;
    this.#target = target;
    session.on("Target.receivedMessageFromTarget", ({ message }) => {
      const answer = JSON.parse(message);
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  /** In a profile of its own, of which Playwright does not know. */
  static async open(browser: Browser, url: string): Promise<Window> {
    const session = await browser.newBrowserCDPSession();
    const { browserContextId } = await session.send("Target.createBrowserContext", { disposeOnDetach: true });
    const { targetId } = await session.send("Target.createTarget", { url, browserContextId });
    const { sessionId } = await session.send("Target.attachToTarget", { targetId, flatten: false });
    return new Window(session, { targetId, sessionId });
  }

  /** The value of an expression, which survives JSON, also in a frozen page. */
  async evaluate(expression: string): Promise<unknown> {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = (await this.#send("Runtime.evaluate", params)) as {
      readonly result: { readonly value?: unknown };
      readonly exceptionDetails?: object;
    };
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  }

  /** A minimized window's page is hidden. */
  async show(windowState: "normal" | "minimized"): Promise<void> {
    const { windowId } = await this.#session.send("Browser.getWindowForTarget", { targetId: this.#target.targetId });
    await this.#session.send("Browser.setWindowBounds", { windowId, bounds: { windowState } });
  }

  /** Only a hidden page can be frozen. */
  async setState(state: "frozen" | "active"): Promise<void> {
    await this.#send("Page.setWebLifecycleState", { state });
  }

  async close(): Promise<void> {
    await this.#session.send("Target.closeTarget", { targetId: this.#target.targetId });
    await this.#session.detach();
  }

  async #send(method: string, params: object): Promise<object> {
    this.#sent += 1;
    const id = this.#sent;
    const answered = new Promise<{ result?: object; error?: { message: string } }>((resolve) => {
      this.#waiting.set(id, resolve);
    });
    const message = JSON.stringify({ id, method, params });
    await this.#session.send("Target.sendMessageToTarget", { sessionId: this.#target.sessionId, message });
    const { result, error } = await answered;
    if (result === undefined) throw new Error(`${method}: ${error?.message}`);
    return result;
  }
}
