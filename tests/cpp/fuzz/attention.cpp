// Attention and expressions of a fuzzer's input.
#include <algorithm>
#include <catch_amalgamated.hpp>

#include "attention_check.hpp"
#include "fuzz/fuzz.hpp"
#include "vjp_check.hpp"

namespace heed::testing {

void try_attention(Random& random) {
  AttentionCase one = random_sizes(random);
  one.queries = std::min<Index>(one.queries, 40);
  one.keys = std::min<Index>(one.keys, 120);
  add_random_options(random, one);
  if (random.chance(0.3)) one.blocks = random_blocks(random);
  if (random.chance(0.5)) one.score = random_score(random);
  INFO(describe(one));
  check_all_results(random, one);
  if (random.chance(0.3)) check_gradients(random, one);
  const AttentionTensors tensors = make_tensors(random, one);
  const AttentionInputs inputs = tensors.inputs();
  const Results results(inputs);
  const FailingAllocation failing(random);
  const Status status = attention(inputs, tensors.options, results.outputs(), calling_thread());
  CHECK((status.is_ok() || status.code() == StatusCode::memory));
}

void try_expressions(Random& random) {
  const Program program = random.chance(0.5) ? random_score_program(random, 1 + static_cast<int>(random.below(20)))
                                             : random_mask_program(random, 1 + static_cast<int>(random.below(20)));
  const OwnedExpressions good = random.chance(0.5) ? OwnedExpressions({&program}, random_tables(random))
                                                   : OwnedExpressions({nullptr, &program}, random_tables(random));
  std::vector<std::int32_t> words = good.words;
  static const std::vector<std::int32_t> odd{-1, 0, 1, 2, 7, 30, 255, 256, 511, 512, 600, 1 << 24, 1 << 30, -(1 << 30)};
  for (Index count = random.below(4); count > 0; --count) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<Index>(words.size())));
    words[at] = random.chance(0.5) ? random.pick(odd)
                                   : words[static_cast<std::size_t>(random.below(static_cast<Index>(words.size())))];
  }
  if (random.chance(0.1)) words.resize(static_cast<std::size_t>(random.below(static_cast<Index>(words.size()))));
  AttentionTensors tensors = make_tensors(random, {.queries = 1 + random.below(20), .keys = 1 + random.below(60)});
  tensors.options.expressions = {.words = words.data(),
                                 .word_count = static_cast<std::int32_t>(words.size()),
                                 .numbers = good.numbers.data(),
                                 .number_count = static_cast<std::int32_t>(good.numbers.size())};
  const AttentionInputs inputs = tensors.inputs();
  const Results results(inputs);
  const Status status = attention(inputs, tensors.options, results.outputs(), calling_thread());
  CHECK((status.is_ok() || status.code() == StatusCode::option));
}

}  // namespace heed::testing
