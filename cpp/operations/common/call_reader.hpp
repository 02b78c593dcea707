// Reads the fields of an operation from the words of a packed call, and says how many words each takes.
#pragma once

#include <type_traits>
#include <utility>

#include "operations/common/rows.hpp"

namespace heed {

/// Numbers, flags and enumerators take a word, an address likewise. Rows and matrices come as a view.
template <typename Field>
inline constexpr std::size_t kWords =
    std::is_arithmetic_v<Field> || std::is_enum_v<Field> ? 1 : sizeof(Field) / sizeof(std::uint32_t);
template <typename T>
inline constexpr std::size_t kWords<Rows<T>> = kWords<PackedView>;
template <typename T>
inline constexpr std::size_t kWords<Matrices<T>> = kWords<PackedView>;
/// Numbers without gaps, whose count other fields say, come as a view, of which only the address is read.
template <>
inline constexpr std::size_t kWords<const float*> = kWords<PackedView>;
template <>
inline constexpr std::size_t kWords<const std::int32_t*> = 1;

template <typename Struct>
using FieldsOf = decltype(std::declval<const Struct&>().fields());

/// The functions are inlined although modules are compiled for size: most of them are a load and a store.
class CallReader {
 public:
  explicit CallReader(const void* words) : next_(static_cast<const std::uint32_t*>(words)) {}

  template <typename Field>
  [[gnu::always_inline]] Field read() {
    if constexpr (requires { Field::kFields; }) {
      return read_struct<Field>(static_cast<FieldsOf<Field>*>(nullptr));
    } else {
      const std::uint32_t* const words = next_;
      next_ += kWords<Field>;
      return unpack(words, static_cast<Field*>(nullptr));
    }
  }

 private:
  template <typename Struct, typename... Fields>
  [[gnu::always_inline]] Struct read_struct(const std::tuple<const Fields&...>* /*fields*/) {
    return {read<Fields>()...};
  }

  template <typename T>
  static Rows<T> unpack(const std::uint32_t* words, const Rows<T>* /*field*/) {
    return unpack_rows<T>(*reinterpret_cast<const PackedView*>(words));
  }
  template <typename T>
  static Matrices<T> unpack(const std::uint32_t* words, const Matrices<T>* /*field*/) {
    return *reinterpret_cast<const PackedView*>(words);
  }
  template <typename T>
  [[gnu::always_inline]] static const T* unpack(const std::uint32_t* words, const T** /*field*/) {
    return pointer<const T>(*words);
  }
  [[gnu::always_inline]] static float unpack(const std::uint32_t* words, const float* /*field*/) {
    return *reinterpret_cast<const float*>(words);
  }
  template <typename Number>
  [[gnu::always_inline]] static Number unpack(const std::uint32_t* words, const Number* /*field*/) {
    return static_cast<Number>(*reinterpret_cast<const std::int32_t*>(words));
  }

  const std::uint32_t* next_;
};

/// A call that is not run as it lies in the heap: its fields are read, from behind the header.
template <typename Call>
concept UnpackedCall =
    requires(const Call& call, Executor& executor, const StopFlag* stop) { run(call, executor, stop); };

template <UnpackedCall Call>
Call unpacked(const CallHeader& header) {
  return CallReader(&header + 1).read<Call>();
}

}  // namespace heed
