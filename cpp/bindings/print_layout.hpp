// Prints where the fields of a packed call lie as TypeScript, in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

namespace heed::bindings {

struct Field {
  const char* name;
  std::size_t offset;
};

inline void print_layout(const char* name, std::size_t bytes, std::span<const Field> fields) {
  constexpr std::size_t word = sizeof(std::uint32_t);
  std::printf("export const %s = {\n  words: %zu,\n", name, bytes / word);
  for (const Field& field : fields) std::printf("  %s: %zu,\n", field.name, field.offset / word);
  std::puts("} as const;");
}

}  // namespace heed::bindings
