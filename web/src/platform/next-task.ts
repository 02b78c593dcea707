// The next task of the event loop, reached without the delay of timers.

/** The longest task in the event loop. At 60 frames a second the page has 16 ms a frame for its own work and ours. */
export const TASK_MS = 4;

/** Resolves in a new task, after waiting input events and painting. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
