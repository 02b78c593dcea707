// The numbers of threads, and what eight of them find, by subgroup operations. Nothing says how the threads of a workgroup lie in subgroups, nor
// how large those are. So threads are numbered anew: those of a subgroup one after the other, if all subgroups are runs of lanes that
// eights fit into.

struct Local {
  @builtin(local_invocation_index) index: u32,
  @builtin(subgroup_invocation_id) lane: u32,
}

struct Numbering {
  arrived: atomic<u32>,
  scattered: atomic<u32>,
  is_scattered: u32,
}

var<workgroup> numbering: Numbering;

fn number_lanes(local: Local) -> u32 {
  let lanes = subgroupAdd(1u);
  let is_run = subgroupMax(local.lane) + 1u == lanes && lanes % SHARING == 0u;
  var first = 0u;
  if (subgroupElect()) {
    first = atomicAdd(&numbering.arrived, lanes);
    if (!is_run) {
      atomicStore(&numbering.scattered, 1u);
    }
  }
  first = subgroupBroadcastFirst(first);
  workgroupBarrier();
  return first + local.lane;
}

// Whether the numbers hold, after the function above.
fn are_lanes_numbered(local: Local) -> bool {
  if (local.index == 0u) {
    numbering.is_scattered = atomicLoad(&numbering.scattered);
  }
  return workgroupUniformLoad(&numbering.is_scattered) == 0u;
}

fn lane_max(own: vec4f) -> vec4f {
  var whole = own;
  for (var distance = 1u; distance < SHARING; distance *= 2u) {
    let other = subgroupShuffleXor(whole, distance);
    whole = select(whole, other, other > whole);
  }
  return whole;
}

fn lane_sum(own: vec4f) -> vec4f {
  var whole = own;
  for (var distance = 1u; distance < SHARING; distance *= 2u) {
    whole += subgroupShuffleXor(whole, distance);
  }
  return whole;
}
