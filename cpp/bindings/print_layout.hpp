// Prints what both languages number as TypeScript: where the fields of calls lie, in words, and enumerators. The build
// runs these programs, so that the two sides cannot drift apart.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "operations/common/call_reader.hpp"

namespace heed::bindings {

inline constexpr std::size_t kWord = sizeof(std::uint32_t);

/// The end of what a compiler says of a template's argument: [T = heed::AffineCall], or [Value = heed::Causal::none].
constexpr std::string_view last_word(std::string_view description) {
  description.remove_suffix(1);
  return description.substr(description.find_last_of(": ") + 1);
}

template <class T>
constexpr std::string_view name_of() {
  return last_word(__PRETTY_FUNCTION__);
}

/// A value without a name of its own is described as (heed::Causal)3.
template <auto Value>
constexpr std::string_view name_of() {
  return last_word(__PRETTY_FUNCTION__);
}

/// top_k, top.k and TopK as topK.
inline std::string camel_case(std::string_view name) {
  std::string made;
  bool is_next = false;
  for (const char letter : name) {
    const bool is_between = letter == '_' || letter == '.';
    if (!is_between) made += static_cast<char>(is_next ? std::toupper(letter) : letter);
    is_next = is_between;
  }
  made[0] = static_cast<char>(std::tolower(made[0]));
  return made;
}

/// TopK as TOP_K.
inline std::string constant_case(std::string_view name) {
  std::string made;
  for (const char letter : name) {
    if (std::isupper(letter) != 0 && !made.empty()) made += '_';
    made += static_cast<char>(std::toupper(letter));
  }
  return made;
}

/// top_k as top-k.
inline std::string kebab_case(std::string name) {
  for (char& letter : name) letter = letter == '_' ? '-' : letter;
  return name;
}

/// What TypeScript calls a number.
struct Named {
  template <class Number>
  constexpr Named(const char* named, Number value) : name(named), number(static_cast<int>(value)) {}

  const char* name;
  int number;
};

inline void print_constant(const char* name, int number) { std::printf("export const %s = %d;\n", name, number); }

inline void print_numbers(const char* name, std::span<const Named> all) {
  std::printf("export const %s = {\n", name);
  for (const Named& one : all) std::printf("  \"%s\": %d,\n", one.name, one.number);
  std::puts("} as const;");
}

template <class Enum, int Number = 0>
void print_enumerators() {
  constexpr std::string_view name = name_of<static_cast<Enum>(Number)>();
  if constexpr (name.find(')') == std::string_view::npos) {
    std::printf("  \"%s\": %d,\n", kebab_case(std::string(name)).c_str(), Number);
    print_enumerators<Enum, Number + 1>();
  }
}

/// Prints an enumeration that is not yet `printed`.
template <class Enum>
void print_enumeration(std::set<std::string_view>& printed) {
  if (!printed.insert(name_of<Enum>()).second) return;
  std::printf("export const %s = {\n", constant_case(name_of<Enum>()).c_str());
  print_enumerators<Enum>();
  std::puts("} as const;");
}

/// The size of a struct with these fields.
template <class... Fields>
constexpr std::size_t bytes_of(const std::tuple<const Fields&...>* /*fields*/) {
  std::size_t end = 0;
  const auto align = [&](std::size_t alignment) { end = (end + alignment - 1) / alignment * alignment; };
  ((align(alignof(Fields)), end += sizeof(Fields)), ...);
  align(std::max({alignof(Fields)...}));
  return end;
}

/// Calls visit(name, field) for each field, and those of structs among them.
template <class Struct, class Visitor>
void for_each_field(const Struct& whole, const Visitor& visit) {
  static_assert(bytes_of(static_cast<FieldsOf<Struct>*>(nullptr)) == sizeof(Struct), "HEED_FIELDS lacks a field");
  std::string_view names = Struct::kFields;
  const auto next = [&](const auto& field) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 2, names.size()));
    if constexpr (requires { field.fields(); }) {
      for_each_field(field, visit);
    } else {
      visit(name, field);
    }
  };
  std::apply([&](const auto&... fields) { (next(fields), ...); }, whole.fields());
}

/// Prints the fields of a call, and the enumerations among them that are not yet `printed`.
template <class Call>
void print_call(std::set<std::string_view>& printed) {
  static constexpr Call kCall{};
  std::size_t word = 0;
  std::printf("export const %s = {\n", constant_case(name_of<Call>()).c_str());
  const auto print = [&]<class Field>(std::string_view name, const Field& /*field*/) {
    std::printf("  %s: %zu,\n", camel_case(name).c_str(), word);
    word += UnpackedCall<Call> ? kWords<Field> : sizeof(Field) / sizeof(std::uint32_t);
  };
  if constexpr (UnpackedCall<Call>) for_each_field(CallHeader{}, print);
  for_each_field(kCall, print);
  std::printf("  words: %zu,\n} as const;\n", word);
  for_each_field(kCall, [&]<class Field>(std::string_view /*name*/, const Field& /*field*/) {
    if constexpr (std::is_enum_v<Field>) print_enumeration<Field>(printed);
  });
}

}  // namespace heed::bindings
