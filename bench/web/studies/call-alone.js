// One call in a page of its own, and the memory that it took: memory of earlier calls would count too.

import { reasonOf } from "../lib/reason.js";

/**
 * @typedef {object} CallAlone
 * @property {number | null} ms
 * @property {number | null} error
 * @property {number | null} bytes the page's answer
 * @property {string | null} failure
 */

/**
 * @param {import("../lib/stage.js").Stage} stage
 * @param {import("../lib/participants.js").Participant} one
 * @param {import("../pages/peer.js").Problem} problem
 * @param {import("../pages/judge.js").Verdict | null} verdict
 * @param {"memoryBytes" | "mostGpuBytes"} question
 * @param {import("../pages/peer.js").Problem | null} before a small problem, computed first, so that loading code is no part of the call
 * @returns {Promise<CallAlone>}
 */
export async function callAlone(stage, one, problem, verdict, question, before = null) {
  await stage.close(one);
  try {
    if (before !== null) {
      await stage.ask(one, "prepare", before);
      await stage.ask(one, "sample", 1, 0);
    }
    await stage.ask(one, "prepare", problem);
    const { ms, error } = await stage.ask(one, "check", verdict);
    return { ms, error, bytes: await stage.ask(one, question), failure: null };
  } catch (error) {
    return { ms: null, error: null, bytes: null, failure: reasonOf(error) };
  } finally {
    await stage.close(one);
  }
}
