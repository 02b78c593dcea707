// The task of a workgroup: a tile of query rows, a KV split and a chunk of the output's vectors. Query heads that share a KV head fill tiles
// together (GQA): of `pack` heads, row `packed` belongs to head packed % pack at position packed / pack.

override RANGES: bool;
override VALUE_VECTORS: u32;

struct Task {
  b: u32,
  key_head: u32,
  row_tile: u32,
  split: u32,
  chunk: u32,
  first_vector: u32,
  keys_at: u32,
  values_at: u32,
  // The keys of the split that some row of the tile sees.
  begin: u32,
  end: u32,
}

fn task_of(index: u32) -> Task {
  var task: Task;
  task.chunk = index % P.chunks;
  task.row_tile = (index / P.chunks) % P.row_tiles;
  let rest = index / P.chunks / P.row_tiles;
  task.split = rest % P.splits;
  task.b = rest / P.splits / P.key_heads;
  task.key_head = (rest / P.splits) % P.key_heads;
  task.first_vector = task.chunk * VALUE_VECTORS;
  task.keys_at = task.b * P.k_b + task.key_head * P.k_h;
  task.values_at = task.b * P.v_b + (task.key_head * P.pack / P.group) * P.v_h;
  task.begin = task.split * P.split_keys;
  task.end = min(task.begin + P.split_keys, P.keys);
  if (RANGES) {
    let tile_at = P.tiles_at + (task.b * P.row_tiles + task.row_tile) * 2u;
    task.begin = max(task.begin, tables[tile_at]);
    task.end = min(task.end, tables[tile_at + 1u]);
  }
  return task;
}

fn is_row(packed: u32) -> bool {
  return packed < P.pack * P.queries;
}

fn position_of(packed: u32) -> u32 {
  return min(packed / P.pack, P.queries - 1u);
}

fn head_of(task: Task, packed: u32) -> u32 {
  return task.key_head * P.pack + packed % P.pack;
}

fn row_number(task: Task, packed: u32) -> u32 {
  return (task.b * P.heads + head_of(task, packed)) * P.queries + position_of(packed);
}

fn packed_row(task: Task, packed: u32) -> Row {
  return row_of(task.b, head_of(task, packed), position_of(packed));
}

fn query_at(task: Task, packed: u32) -> u32 {
  return task.b * P.q_b + head_of(task, packed) * P.q_h + position_of(packed) * P.q_i;
}
