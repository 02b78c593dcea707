// Prints what pages of KV caches depend on: the rows of a KV block, and of an int8 tile, whose rows are padded to
// groups.
#include "bindings/print_layout.hpp"
#include "heed/i8_tile.hpp"
#include "plan/attention_plan.hpp"

namespace {

void print_tile(const char* name, const heed::I8Tile& tile) {
  std::printf("  %s: { rows: %d, group: %d },\n", name, tile.rows, tile.number.group);
}

}  // namespace

int main() {
  std::puts("// Made by the build from cpp/plan/attention_plan.hpp and cpp/include/heed/i8_tile.hpp.");
  heed::bindings::print_constant("BLOCK_ROWS", heed::kMaxKeyBlock);
  std::puts("export const I8_TILES = {");
  print_tile("key", heed::kI8KeyTile);
  print_tile("value", heed::kI8ValueTile);
  std::puts("} as const;");
  return 0;
}
