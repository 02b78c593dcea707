// Eight neighbouring threads, which share rows or keys, find their largest numbers and their sums: by subgroup operations (`by_lanes`), or
// through the workgroup's array `staged`, which has a vector a thread and is free between barriers. All threads of the workgroup call these functions.

override SUBGROUPS: bool;
override SHARING: u32;

// Numbers are compared, so NaN never becomes a maximum.
fn eight_max(own: vec4f, thread: u32, by_lanes: bool) -> vec4f {
  if (SUBGROUPS) {
    if (by_lanes) {
      return lane_max(own);
    }
  }
  staged[thread] = own;
  workgroupBarrier();
  let first = thread - thread % SHARING;
  var whole = staged[first];
  for (var n = 1u; n < SHARING; n++) {
    let other = staged[first + n];
    whole = select(whole, other, other > whole);
  }
  workgroupBarrier();
  return whole;
}

fn eight_sum(own: vec4f, thread: u32, by_lanes: bool) -> vec4f {
  if (SUBGROUPS) {
    if (by_lanes) {
      return lane_sum(own);
    }
  }
  staged[thread] = own;
  workgroupBarrier();
  let first = thread - thread % SHARING;
  var whole = staged[first];
  for (var n = 1u; n < SHARING; n++) {
    whole += staged[first + n];
  }
  workgroupBarrier();
  return whole;
}
