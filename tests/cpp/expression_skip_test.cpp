// Keys that a mask expression hides from a whole block are not read: they lie in memory that nobody may read. Native
// only.
#include <sys/mman.h>

#include <catch_amalgamated.hpp>
#include <span>

#include "attention_check.hpp"

namespace heed::testing {
namespace {

constexpr Index kDim = 64;
/// Whole blocks of either kernel, 96 keys and 128.
constexpr Index kSeen = 384;
constexpr Index kKeys = 2 * kSeen;

/// Rows of numbers, of which the second half must not be read.
class GuardedLines {
 public:
  explicit GuardedLines(Random& random)
      : lines_(static_cast<float*>(
            mmap(nullptr, bytes(kKeys), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(lines_ != MAP_FAILED);
    for (float& number : std::span(lines_, static_cast<std::size_t>(kSeen * kDim))) number = random.normal();
    REQUIRE(mprotect(lines_ + kSeen * kDim, bytes(kSeen), PROT_NONE) == 0);
  }
  GuardedLines(const GuardedLines&) = delete;
  GuardedLines& operator=(const GuardedLines&) = delete;
  ~GuardedLines() { munmap(lines_, bytes(kKeys)); }

  [[nodiscard]] TensorView<const float> view() const { return bhnd_view<const float>(lines_, {1, 1, kKeys, kDim}); }

 private:
  static std::size_t bytes(Index keys) { return static_cast<std::size_t>(keys * kDim) * sizeof(float); }

  float* lines_;
};

}  // namespace

TEST_CASE("blocks that an expression leaves nothing of are not read, in many rows and in few") {
  Random random(98);
  const GuardedLines keys(random);
  const GuardedLines values(random);
  Program program;
  // Of a remainder, which says nothing by its ends.
  const Program::Value half = program.floor_div(program.key(), program.constant(static_cast<float>(kSeen)));
  program.finish(program.apply(
      Opcode::equal, {program.mod(program.apply(Opcode::add, {half, program.query()}), program.constant(2.0F)),
                      program.mod(program.query(), program.constant(2.0F))}));
  const OwnedExpressions expressions({nullptr, &program});
  for (const Index queries : {Index{2}, Index{40}}) {
    Owned<float> query = allocate<float>({1, 1, queries, kDim}, Layout::bhnd, 0.5F);
    const AttentionInputs inputs{
        .query = query.reading(), .key = keys.view(), .value = values.view(), .mask = {}, .bias = {}};
    INFO(", " << queries << " queries");
    const Results results = run(inputs, {.expressions = expressions.view()});
    for (Index i = 0; i < queries; ++i) {
      CHECK(std::isfinite(results.output(0, 0, i, 0)));
      CHECK(results.weights(0, 0, i, kSeen) == 0.0F);
    }
  }
}

}  // namespace heed::testing
