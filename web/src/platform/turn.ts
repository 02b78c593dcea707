// The event loop's next turn, reached without the delay that timers have.

/** Resolves in a task of its own: what waits meanwhile, input and painting among it, comes first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
