// The index of a workgroup among all, whatever the width of the grid.

fn group_index(group: vec3u) -> u32 {
  return group.x + group.y * P.groups_x;
}
