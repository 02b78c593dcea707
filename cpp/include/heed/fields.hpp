// Names the fields of a struct, so that one piece of code reads, writes or prints those of any.
#pragma once

#include <string_view>
#include <tuple>

/// Names the fields of a struct, all of them and in their order; those of structs within it may be named one by one, as
/// window.left. bindings/ prints where those of calls lie for TypeScript, which calls is_centred isCentred and
/// window.left windowLeft. A field that is itself a struct with named fields is replaced by them.
#define HEED_FIELDS(...)                                    \
  static constexpr std::string_view kFields = #__VA_ARGS__; \
  [[nodiscard]] constexpr auto fields() const { return std::tie(__VA_ARGS__); }
