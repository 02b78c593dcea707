// Prints what both languages number as TypeScript: where the fields of a packed call lie, in words, and enumerators.
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

/// What TypeScript calls an enumerator.
struct Named {
  template <class Enum>
  constexpr Named(const char* named, Enum value) : name(named), number(static_cast<int>(value)) {}

  const char* name;
  int number;
};

inline void print_numbers(const char* name, std::span<const Named> all) {
  std::printf("export const %s = {\n", name);
  for (const Named& one : all) std::printf("  \"%s\": %d,\n", one.name, one.number);
  std::puts("} as const;");
}

}  // namespace heed::bindings
