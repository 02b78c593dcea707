// The numbers of threads, on a device without subgroups.

struct Local {
  @builtin(local_invocation_index) index: u32,
}

fn number_lanes(local: Local) -> u32 {
  return local.index;
}

fn are_lanes_numbered(local: Local) -> bool {
  return false;
}
