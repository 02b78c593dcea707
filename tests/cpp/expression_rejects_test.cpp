// Words that are no program are refused, or harmless. Not in WebAssembly, where heed/expr alone makes them: see
// trust_expressions.cpp.
#include <catch_amalgamated.hpp>
#include <vector>

#include "attention_check.hpp"
#include "problem/attention_problem.hpp"

namespace heed::testing {

TEST_CASE("expressions that are no programs of this version are refused") {
  const Program program = [] {
    Program p;
    p.finish(p.apply(Opcode::add, {p.score(), p.at(0, {p.key()})}));
    return p;
  }();
  const OwnedExpressions good({&program}, {{{4}, {1.0F, 2.0F, 3.0F, 4.0F}}});
  static float somewhere = 0.0F;
  const auto check = [](const std::vector<std::int32_t>& words, const std::vector<float>& numbers) {
    AttentionProblem problem{};
    const auto view = bhnd_view<const float>(&somewhere, {1, 1, 1, 1});
    return make_attention_problem({.query = view, .key = view, .value = view, .mask = {}, .bias = {}},
                                  {.expressions = {.words = words.data(),
                                                   .word_count = static_cast<std::int32_t>(words.size()),
                                                   .numbers = numbers.data(),
                                                   .number_count = static_cast<std::int32_t>(numbers.size())}},
                                  {}, problem);
  };
  CHECK(check(good.words, good.numbers).is_ok());
  CHECK_FALSE(check(good.words, {1.0F, 2.0F, 3.0F}).is_ok());
  for (std::size_t count = 1; count < good.words.size(); ++count) {
    CHECK_FALSE(
        check({good.words.begin(), good.words.begin() + static_cast<std::ptrdiff_t>(count)}, good.numbers).is_ok());
  }
  // Whatever word is wrong, it is refused or harmless: the sanitizers would say if it were not.
  Random random(94);
  int refused = 0;
  for (int n = 0; n < 2000; ++n) {
    std::vector<std::int32_t> words = good.words;
    const auto at = static_cast<std::size_t>(random.below(static_cast<std::int32_t>(words.size())));
    words[at] = random.pick(std::vector<std::int32_t>{-1, 0, 1, 7, 30, 255, 256, 511, 512, 600, 1 << 30, -(1 << 30)});
    const Status status = check(words, good.numbers);
    if (status.is_ok()) {
      Random drawn(95);
      AttentionTensors tensors = make_tensors(drawn, {.queries = 20, .keys = 30});
      tensors.options.expressions = {.words = words.data(),
                                     .word_count = static_cast<std::int32_t>(words.size()),
                                     .numbers = good.numbers.data(),
                                     .number_count = static_cast<std::int32_t>(good.numbers.size())};
      run(tensors.inputs(), tensors.options);
      continue;
    }
    ++refused;
    CHECK(status.code() == StatusCode::option);
    CHECK_THAT(std::string(status.message()),
               Catch::Matchers::ContainsSubstring("expressions must be programs of this version"));
  }
  CHECK(refused > 500);
}

}  // namespace heed::testing
