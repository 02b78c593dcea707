// Packed calls of every operation whose parameters say what memory it uses: they compute within that memory, or are
// refused and write nothing.
#include <algorithm>
#include <array>
#include <bit>
#include <catch_amalgamated.hpp>
#include <cstring>
#include <numeric>
#include <string>

#include "bindings/narrow_operations.hpp"
#include "bindings/operations.hpp"
#include "bindings/run_one_of.hpp"
#include "bindings/training_operations.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/low_memory.hpp"
#include "heed/machine.hpp"

namespace heed::testing {
namespace {

/// Writes the fields of calls. Sizes come from few, so that views often fit one another.
class CallMaker {
 public:
  /// `are_rows`: of views of one row only the last size is looked at.
  CallMaker(Random& random, LowMemory& memory, bool are_rows) : random_(random), memory_(memory), are_rows_(are_rows) {
    for (Index& size : sizes_) size = random.chance(0.2) ? 32 * (1 + random.below(3)) : random.below(20);
  }

  template <typename Field>
  void fill(Field& field) {
    if constexpr (std::is_same_v<Field, CallHeader>) {
      field = {};
    } else if constexpr (requires { field.call; }) {
      fill(field.call);
    } else if constexpr (requires { Field::kFields; }) {
      std::apply([this](const auto&... fields) { (fill(writable(fields)), ...); }, field.fields());
    } else if constexpr (std::is_same_v<Field, PackedView>) {
      field = view({leading(), leading(), leading(), size()}, 0);
    } else {
      const std::uint32_t word = word_of<Field>();
      std::memcpy(&field, &word, sizeof word);
    }
  }

  /// The same as words, for calls that are read field by field.
  template <typename Field>
  std::uint32_t* write(std::uint32_t* words, const Field* /*field*/) {
    if constexpr (requires { Field::kFields; }) {
      return write_fields(words, static_cast<FieldsOf<Field>*>(nullptr));
    } else if constexpr (kWords<Field> == kWords<PackedView>) {
      const PackedView made = view_of(static_cast<Field*>(nullptr));
      std::memcpy(words, &made, sizeof made);
      return words + kWords<Field>;
    } else {
      *words = word_of<Field>();
      return words + 1;
    }
  }

 private:
  static constexpr Index kMostFloats = 1 << 12;
  /// More than any call of these sizes reads of numbers whose count its other fields say.
  static constexpr Index kPlenty = 1 << 14;
  static constexpr Index kBelow = 20;

  template <typename Field>
  static Field& writable(const Field& field) {
    return const_cast<Field&>(field);
  }

  template <typename... Fields>
  std::uint32_t* write_fields(std::uint32_t* words, const std::tuple<const Fields&...>* /*fields*/) {
    ((words = write(words, static_cast<Fields*>(nullptr))), ...);
    return words;
  }

  template <typename T>
  PackedView view_of(const Rows<T>* /*field*/) {
    return view({1, 1, size_or_one(), size()}, random_.chance(0.2) ? 3 : 0);
  }
  template <typename T>
  PackedView view_of(const Matrices<T>* /*field*/) {
    return view({1, size_or_one(), size(), size()}, 0);
  }
  /// Numbers whose count other fields say.
  PackedView view_of(const float** /*field*/) {
    return {random_.chance(0.3) ? 0 : plenty(), {1, 1, 1, 1}, {1, 1, 1, 1}};
  }

  template <typename Field>
  std::uint32_t word_of() {
    if constexpr (std::is_same_v<Field, const std::int32_t*>) return indices();
    if constexpr (std::is_same_v<Field, std::uint32_t>) return random_.chance(0.3) ? 0 : plenty();
    if constexpr (std::is_same_v<Field, bool>) return random_.chance(0.5) ? 1 : 0;
    if constexpr (std::is_same_v<Field, float>) return std::bit_cast<std::uint32_t>(number());
    if constexpr (requires { Field::last; }) {
      return static_cast<std::uint32_t>(random_.below(static_cast<Index>(Field::last) + 1));
    }
    if constexpr (std::is_enum_v<Field>) return static_cast<std::uint32_t>(random_.below(2));
    return static_cast<std::uint32_t>(random_.chance(0.5) ? random_.below(3) : size());
  }

  Index size() {
    if (random_.chance(0.01)) return random_.pick(std::vector<Index>{-1, (Index{1} << 30) + 1, -(Index{1} << 31)});
    if (random_.chance(0.1)) return random_.below(4);
    return sizes_[random_.below(3)];
  }
  Index leading() { return are_rows_ ? 1 + random_.below(3) : size_or_one(); }
  Index size_or_one() { return random_.chance(0.5) ? 1 : size(); }

  float number() {
    static const std::vector<float> odd{0.0F, 1.0F, -1.0F, 1e30F, 1e-40F, kInfinity, kNan, 0.5F};
    return random_.chance(0.1) ? random_.pick(odd) : random_.normal();
  }

  /// Rows of a shape, side by side or apart, in a block of just that size. A shape that is refused has a block of
  /// nothing.
  PackedView view(std::array<Index, 4> shape, Index padding) {
    const bool is_possible = std::ranges::all_of(shape, [](Index size) { return size >= 0 && size < 1000; });
    // Sizes of an empty tensor count as well: others may have so many numbers.
    const auto many = [&shape] {
      return std::accumulate(shape.begin(), shape.end(), Index{1},
                             [](Index product, Index size) { return product * std::max<Index>(size, 1); });
    };
    for (std::size_t axis = 0; is_possible && many() > kMostFloats; ++axis)
      shape[axis] = std::min<Index>(shape[axis], 1);
    PackedView made{};
    Index stride = 1;
    for (std::size_t axis = 4; axis-- > 0;) {
      made.shape[axis] = static_cast<std::int32_t>(shape[axis]);
      made.strides[axis] = static_cast<std::int32_t>(stride);
      stride *= is_possible ? shape[axis] : 0;
      if (axis == 3) stride += padding;
    }
    if (!are_rows_ && random_.chance(0.15)) return made;  // absent
    const bool is_empty = stride == 0 || !is_possible;
    const Index floats = is_empty ? 0 : stride - padding * (shape[2] > 0 ? 1 : 0);
    made.address = floats_at(static_cast<std::uint32_t>(floats));
    return made;
  }

  std::uint32_t floats_at(std::uint32_t count) {
    const std::uint32_t address = memory_.allocate(4 * count);
    std::memcpy(memory_.bytes_at(address, 4 * count).data(), numbers() + random_.below(64), 4 * std::size_t{count});
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, 8); ++i) {
      const float one = number();
      std::memcpy(&memory_.bytes_at(address, 4 * count)[4 * std::size_t{i}], &one, sizeof one);
    }
    return address;
  }

  static std::uint32_t plenty() {
    static const std::uint32_t address = constant_in_low_memory({numbers(), kPlenty});
    return address;
  }

  static const float* numbers() {
    static const std::vector<float> all = [] {
      Random random(7);
      std::vector<float> made(kPlenty + 64);
      for (float& one : made) one = random.normal();
      return made;
    }();
    return all.data();
  }

  /// Of rows, or of axes: small whole numbers, seldom one that is none.
  std::uint32_t indices() {
    const std::uint32_t address = memory_.allocate(4 * kMostFloats);
    const auto most = static_cast<std::size_t>(random_.below(kBelow));
    std::memcpy(memory_.bytes_at(address, 4 * kMostFloats).data(), whole_numbers()[most].data(), 4 * kMostFloats);
    if (random_.chance(0.3)) {
      constexpr std::int32_t none = -1;
      const auto place = static_cast<std::size_t>(random_.below(64));
      std::memcpy(&memory_.bytes_at(address, 4 * kMostFloats)[4 * place], &none, sizeof none);
    }
    return address;
  }

  /// By the largest of them.
  static const std::vector<std::vector<std::int32_t>>& whole_numbers() {
    static const std::vector<std::vector<std::int32_t>> all = [] {
      Random random(8);
      std::vector<std::vector<std::int32_t>> made(kBelow, std::vector<std::int32_t>(kMostFloats));
      for (Index most = 0; most < kBelow; ++most) {
        for (auto& one : made[static_cast<std::size_t>(most)]) one = static_cast<std::int32_t>(random.below(most + 1));
      }
      return made;
    }();
    return all;
  }

  Random& random_;
  LowMemory& memory_;
  bool are_rows_;
  Index sizes_[3];
};

/// Those of attention and of caches point to more than their parameters say: attention.cpp has them.
template <typename Call>
inline constexpr bool kIsMade = !std::is_same_v<Call, AttentionCall> && !std::is_same_v<Call, AttentionVjpCall> &&
                                !std::is_same_v<Call, AppendCall>;

template <typename Call>
void try_call(Random& random, LowMemory& memory) {
  if constexpr (kIsMade<Call>) {
    CallMaker maker(random, memory, std::is_same_v<Call, PackCall> || std::is_same_v<Call, PackNarrowCall>);
    std::uint32_t address = 0;
    if constexpr (UnpackedCall<Call>) {
      std::uint32_t words[256] = {};
      const std::uint32_t* const end = maker.write(words + 2, static_cast<Call*>(nullptr));
      const auto bytes = static_cast<std::uint32_t>(4 * (end - words));
      address = memory.allocate(bytes);
      std::memcpy(memory.bytes_at(address, bytes).data(), words, bytes);
    } else {
      Call call{};
      maker.fill(call);
      address = memory.allocate(sizeof call);
      std::memcpy(memory.bytes_at(address, sizeof call).data(), &call, sizeof call);
    }
    memory.remember();
    const FailingAllocation failing(random);
    const Status status = bindings::run_at<Call>(address, calling_thread());
    if (status.code() != StatusCode::shape && status.code() != StatusCode::option) return;
    const std::string message(status.message());
    INFO(message);
    CHECK(message.find(": ") != std::string::npos);
    // What is packed piece by piece is checked piece by piece.
    if constexpr (!std::is_same_v<Call, PackNarrowCall>) CHECK(memory.is_as_remembered());
  }
}

}  // namespace

void try_packed_call(Random& random) {
  using All = bindings::Joined<Operations, TrainingOperations, NarrowOperations>;
  static LowMemory memory;
  memory.clear();
  const Index chosen = random.below(std::tuple_size_v<All>);
  [&]<std::size_t... kAt>(std::index_sequence<kAt...> /*all*/) {
    ((chosen == kAt ? try_call<std::tuple_element_t<kAt, All>>(random, memory) : void()), ...);
  }(std::make_index_sequence<std::tuple_size_v<All>>());
}

}  // namespace heed::testing
