// Eight neighbouring threads, which share rows or keys: their largest numbers and their sums, by subgroup operations or through workgroup memory.

import { when } from "./common.js";

export const SHARING = 8;

/** Of the entry point, beside others. */
export const laneInput = (subgroups: boolean): string =>
  subgroups ? ", @builtin(subgroup_invocation_id) lane: u32" : "";

/**
 * `eight_max` and `eight_sum`, which all threads of the workgroup call; `exchange` is an array of a vector a thread, free between barriers.
 * A maximum is chosen by comparing, so that a NaN never is one.
 */
export function eightThreads(subgroups: boolean, exchange: string): string {
  return `${when(
    subgroups,
    `struct Numbering { arrived: atomic<u32>, scattered: atomic<u32>, is_scattered: u32 }
var<workgroup> numbering: Numbering;`,
  )}
${eightOf("max", "select(whole, other, other > whole)", subgroups, exchange)}
${eightOf("sum", "whole + other", subgroups, exchange)}`;
}

function eightOf(name: string, combined: string, subgroups: boolean, exchange: string): string {
  return `fn eight_${name}(own: vec4f, thread: u32, by_lanes: bool) -> vec4f {
  ${when(
    subgroups,
    `if (by_lanes) {
    var whole = own;
    for (var distance = 1u; distance < ${SHARING}u; distance *= 2u) {
      let other = subgroupShuffleXor(whole, distance);
      whole = ${combined};
    }
    return whole;
  }`,
  )}
  ${exchange}[thread] = own;
  workgroupBarrier();
  let first = thread - thread % ${SHARING}u;
  var whole = ${exchange}[first];
  for (var n = 1u; n < ${SHARING}u; n++) { let other = ${exchange}[first + n]; whole = ${combined}; }
  workgroupBarrier();
  return whole;
}`;
}

/**
 * `thread` and `by_lanes` of what follows. Nothing says how a workgroup's threads lie in subgroups, nor how large those are. So threads are
 * numbered anew: those of a subgroup one after the other, wherever all subgroups are runs of lanes that eights fit into.
 */
export function numberThreads(subgroups: boolean): string {
  if (!subgroups) return "let thread = local;\n  let by_lanes = false;";
  return `let lanes = subgroupAdd(1u);
  let is_run = subgroupMax(lane) + 1u == lanes && lanes % ${SHARING}u == 0u;
  var numbered = 0u;
  if (subgroupElect()) {
    numbered = atomicAdd(&numbering.arrived, lanes);
    if (!is_run) { atomicStore(&numbering.scattered, 1u); }
  }
  numbered = subgroupBroadcastFirst(numbered);
  workgroupBarrier();
  if (local == 0u) { numbering.is_scattered = atomicLoad(&numbering.scattered); }
  let by_lanes = workgroupUniformLoad(&numbering.is_scattered) == 0u;
  let thread = select(local, numbered + lane, by_lanes);`;
}
