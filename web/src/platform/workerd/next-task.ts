// In place of next-task.ts: a request's task is its own, and what waits for another one may wait for a request that has ended.

export { TASK_MS } from "../next-task.js";

export async function nextTask(): Promise<void> {}
