// Expressions: functions of scores and masks, beside every other option, and the published recipes of FlexAttention
// against plain loops.
#include <catch_amalgamated.hpp>
#include <functional>
#include <vector>

#include "attention_check.hpp"
#include "problem/attention_problem.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

using Value = Program::Value;
using MaskRule = std::function<bool(Index b, Index h, Index q, Index k)>;
using Build = std::function<Value(Program&)>;

constexpr Index kQueries = 150;
constexpr Index kKeys = 220;

Program program_of(const Build& build) {
  Program program;
  program.finish(build(program));
  return program;
}

/// The expression gives what a boolean mask of the rule's gives, to the bounds of the latter.
void check_mask(const AttentionCase& one, const Build& build, const MaskRule& rule,
                const std::vector<TableCase>& tables = {}) {
  Random random(90);
  AttentionCase masked = one;
  masked.mask = one.score_shape();
  AttentionTensors tensors = make_tensors(random, masked);
  for_each_element(one.score_shape(),
                   [&](Index b, Index h, Index q, Index k) { tensors.mask(b, h, q, k) = rule(b, h, q, k) ? 1 : 0; });
  const Expected expected = expect(tensors.inputs(), tensors.options);
  const Program program = program_of(build);
  const OwnedExpressions expressions({nullptr, &program}, tables);
  AttentionInputs inputs = tensors.inputs();
  inputs.mask = {};
  AttentionOptions options = tensors.options;
  options.expressions = expressions.view();
  INFO(describe(one));
  for (const Wanted& wanted : {Wanted{}, Wanted{.weights = false, .entropy = false}}) {
    const Comparison comparison = compare(expected, run(inputs, options, wanted));
    INFO(comparison.where);
    CHECK(comparison.worst() <= 1.0);
  }
}

/// In many rows, in few, and with heads that share keys.
void check_mask_everywhere(const Build& build, const MaskRule& rule, const std::vector<TableCase>& tables = {}) {
  check_mask({.batch = 2, .heads = 2, .kv_heads = 2, .queries = kQueries, .keys = kKeys}, build, rule, tables);
  check_mask({.batch = 2, .heads = 4, .kv_heads = 2, .queries = 37, .keys = kKeys}, build, rule, tables);
  check_mask({.batch = 1, .heads = 2, .kv_heads = 1, .queries = 2, .keys = 700}, build, rule, tables);
}

Value whole(Program& p, Index number) { return p.constant(static_cast<float>(number)); }
Value both(Program& p, Value a, Value b) { return p.apply(Opcode::min, {a, b}); }
Value either(Program& p, Value a, Value b) { return p.apply(Opcode::max, {a, b}); }
Value is_causal(Program& p) { return p.apply(Opcode::less_equal, {p.key(), p.query()}); }

TableCase whole_table(const std::vector<std::int32_t>& sizes, const std::function<Index(Index)>& number) {
  TableCase table{.sizes = sizes, .numbers = {}};
  Index count = 1;
  for (const std::int32_t size : sizes) count *= size;
  for (Index n = 0; n < count; ++n) table.numbers.push_back(static_cast<float>(number(n)));
  return table;
}

}  // namespace

TEST_CASE("a causal mask as an expression") {
  check_mask_everywhere(is_causal, [](Index, Index, Index q, Index k) { return k <= q; });
}

TEST_CASE("a prefix that all see, another in each batch entry") {
  const auto prefix = [](Index b) { return b == 0 ? Index{30} : Index{97}; };
  check_mask_everywhere(
      [](Program& p) { return either(p, is_causal(p), p.apply(Opcode::less, {p.key(), p.at(0, {p.batch()})})); },
      [&](Index b, Index, Index q, Index k) { return k <= q || k < prefix(b); }, {whole_table({2}, prefix)});
}

TEST_CASE("documents by a table of their numbers, sorted or not") {
  for (const Index step : {40, 1}) {
    const auto document = [step](Index at) { return step == 1 ? at * 7 % 5 : at / step; };
    check_mask_everywhere([](Program& p) { return p.apply(Opcode::equal, {p.at(0, {p.query()}), p.at(0, {p.key()})}); },
                          [&](Index, Index, Index q, Index k) { return document(q) == document(k); },
                          {whole_table({700}, document)});
  }
}

TEST_CASE("a dilated sliding window") {
  check_mask_everywhere(
      [](Program& p) {
        const Value ahead = p.apply(Opcode::sub, {p.query(), p.key()});
        const Value near = p.apply(Opcode::less_equal, {p.apply(Opcode::abs, {ahead}), whole(p, 24)});
        return both(p, near, p.apply(Opcode::equal, {p.mod(ahead, whole(p, 4)), whole(p, 0)}));
      },
      [](Index, Index, Index q, Index k) { return std::abs(q - k) <= 24 && (q - k) % 4 == 0; });
}

TEST_CASE("jagged lengths of batch entries") {
  const auto length = [](Index b) { return b == 0 ? Index{17} : Index{140}; };
  check_mask_everywhere(
      [](Program& p) {
        const Value end = p.at(0, {p.batch()});
        return both(p, p.apply(Opcode::less, {p.key(), end}), p.apply(Opcode::less, {p.query(), end}));
      },
      [&](Index b, Index, Index q, Index k) { return k < length(b) && q < length(b); }, {whole_table({2}, length)});
}

TEST_CASE("a neighbourhood in two dimensions") {
  constexpr Index width = 15;
  check_mask_everywhere(
      [](Program& p) {
        const auto apart = [&p](Value (Program::*axis)(Value, Value)) {
          const Value of_query = (p.*axis)(p.query(), whole(p, width));
          const Value of_key = (p.*axis)(p.key(), whole(p, width));
          return p.apply(Opcode::abs, {p.apply(Opcode::sub, {of_query, of_key})});
        };
        return both(p, p.apply(Opcode::less_equal, {apart(&Program::mod), whole(p, 3)}),
                    p.apply(Opcode::less_equal, {apart(&Program::floor_div), whole(p, 2)}));
      },
      [](Index, Index, Index q, Index k) {
        return std::abs(q % width - k % width) <= 3 && std::abs(q / width - k / width) <= 2;
      });
}

TEST_CASE("masks that are the same for a row, for a key, by head, for all and for none") {
  check_mask_everywhere([](Program& p) { return p.apply(Opcode::less, {p.query(), whole(p, 20)}); },
                        [](Index, Index, Index q, Index) { return q < 20; });
  check_mask_everywhere([](Program& p) { return p.apply(Opcode::less, {whole(p, 33), p.key()}); },
                        [](Index, Index, Index, Index k) { return k > 33; });
  check_mask_everywhere([](Program& p) { return p.apply(Opcode::equal, {p.head(), whole(p, 1)}); },
                        [](Index, Index h, Index, Index) { return h == 1; });
  check_mask_everywhere([](Program& p) { return p.constant(1.0F); }, [](Index, Index, Index, Index) { return true; });
  check_mask_everywhere([](Program& p) { return p.constant(0.0F); }, [](Index, Index, Index, Index) { return false; });
}

TEST_CASE("conditions that are neither true nor false at the ends of a block") {
  const auto from_key = [](Program& p, Index key) { return p.apply(Opcode::sub, {p.key(), whole(p, key)}); };
  check_mask_everywhere(
      [&](Program& p) { return p.apply(Opcode::less, {whole(p, 2), p.apply(Opcode::abs, {from_key(p, 50)})}); },
      [](Index, Index, Index, Index k) { return std::abs(k - 50) > 2; });
  check_mask_everywhere([&](Program& p) { return p.negate(p.apply(Opcode::equal, {p.key(), p.query()})); },
                        [](Index, Index, Index q, Index k) { return k != q; });
  check_mask_everywhere(
      [&](Program& p) {
        const Value square = p.apply(Opcode::mul, {from_key(p, 50), from_key(p, 50)});
        return p.apply(Opcode::less, {whole(p, 99), square});
      },
      [](Index, Index, Index, Index k) { return (k - 50) * (k - 50) > 99; });
  check_mask_everywhere(
      [&](Program& p) {
        const Value inverse = p.apply(Opcode::div, {whole(p, 8), from_key(p, 50)});
        return p.apply(Opcode::less_equal, {inverse, whole(p, 2)});
      },
      [](Index, Index, Index, Index k) { return k < 50 || k >= 54; });
}

TEST_CASE("conditions on numbers that are infinite or NaN somewhere in a block") {
  const auto number = [](Index k) { return k % 31 == 7 ? kNan : k % 31 == 9 ? kInfinity : static_cast<float>(k); };
  TableCase table{.sizes = {700}, .numbers = {}};
  for (Index k = 0; k < 700; ++k) table.numbers.push_back(number(k));
  // NaN is not below anything, nor is infinity below this.
  const auto is_finite = [](Program& p, Value value) { return p.apply(Opcode::less, {value, p.constant(1e6F)}); };
  const auto is_odd = [](Index k) { return k % 31 == 7 || k % 31 == 9; };
  check_mask_everywhere([&](Program& p) { return is_finite(p, p.at(0, {p.key()})); },
                        [&](Index, Index, Index, Index k) { return !is_odd(k); }, {table});
  check_mask_everywhere(
      [&](Program& p) {
        const Value read = p.at(0, {p.key()});
        return is_finite(p, p.apply(Opcode::sub, {read, read}));
      },
      [&](Index, Index, Index, Index k) { return !is_odd(k); }, {table});
  const auto root_behind = [](Program& p, Index key) {
    return p.apply(Opcode::sqrt, {p.apply(Opcode::sub, {p.key(), whole(p, key)})});
  };
  check_mask_everywhere([&](Program& p) { return is_finite(p, root_behind(p, 50)); },
                        [](Index, Index, Index, Index k) { return k >= 50; });
  check_mask_everywhere(
      [&](Program& p) { return p.apply(Opcode::less_equal, {root_behind(p, 50), p.constant(kInfinity)}); },
      [](Index, Index, Index, Index k) { return k >= 50; });
}

TEST_CASE("ALiBi, softcap and relative biases as expressions are what they are as options") {
  Random random(91);
  for (const Index queries : {Index{2}, kQueries}) {
    const AttentionCase one{.heads = 4, .kv_heads = 2, .queries = queries, .keys = kKeys};
    const std::vector<float> slopes = {0.5F, 0.25F, 0.125F, 0.0625F};
    TableCase by_distance{.sizes = {4, 61}, .numbers = {}};
    for (int n = 0; n < 4 * 61; ++n) by_distance.numbers.push_back(random.normal());
    AttentionTensors tensors = make_tensors(random, one);
    std::vector<std::int32_t> offsets = {0};
    const auto check = [&](const AttentionInputs& plain, const AttentionOptions& options, const Build& build) {
      const Expected expected = expect(plain, options);
      const Program program = program_of(build);
      const OwnedExpressions expressions({&program}, {{{4}, slopes}, by_distance});
      AttentionOptions instead = tensors.options;
      instead.expressions = expressions.view();
      const Comparison comparison = compare(expected, run(tensors.inputs(), instead));
      INFO(": " << comparison.where);
      CHECK(comparison.worst() <= 1.0);
    };
    check(tensors.inputs(), {{.alibi_slopes = slopes.data()}, {.query_offsets = offsets.data()}}, [](Program& p) {
      const Value distance = p.apply(Opcode::abs, {p.apply(Opcode::sub, {p.query(), p.key()})});
      return p.apply(Opcode::sub, {p.score(), p.apply(Opcode::mul, {p.at(0, {p.head()}), distance})});
    });
    check(tensors.inputs(), {{.softcap = 2.0F}}, [](Program& p) {
      const Value bent = p.apply(Opcode::tanh, {p.apply(Opcode::mul, {p.score(), p.constant(0.5F)})});
      return p.apply(Opcode::mul, {bent, p.constant(2.0F)});
    });
    // 30 distances in either direction, those beyond as the last.
    Owned<float> bias = allocate<float>({1, 4, queries, kKeys}, Layout::bhnd, 0.0F);
    for_each_element(bias.view.shape, [&](Index b, Index h, Index q, Index k) {
      bias(b, h, q, k) = by_distance.numbers[static_cast<std::size_t>(h * 61 + std::clamp<Index>(q - k + 30, 0, 60))];
    });
    AttentionInputs biased = tensors.inputs();
    biased.bias = bias.reading();
    check(biased, {}, [](Program& p) {
      const Value distance = p.apply(Opcode::add, {p.apply(Opcode::sub, {p.query(), p.key()}), p.constant(30.0F)});
      return p.apply(Opcode::add, {p.score(), p.at(1, {p.head(), distance})});
    });
  }
}

TEST_CASE("-infinity from an expression masks, NaN keys and values included, and other numbers do not") {
  Random random(92);
  for (const Index queries : {2, 40}) {
    const AttentionCase one{.queries = queries, .keys = 200};
    AttentionTensors tensors = make_tensors(random, one);
    const Program causal = program_of(
        [](Program& p) { return p.apply(Opcode::select, {is_causal(p), p.score(), p.constant(-kInfinity)}); });
    const OwnedExpressions expressions({&causal});
    tensors.options.expressions = expressions.view();
    check_tensors(tensors);
    for (Index j = queries; j < 200; ++j) {
      for (Index d = 0; d < 8; ++d) tensors.key(0, 0, j, d) = tensors.value(0, 0, j, d) = kNan;
    }
    const Results results = run(tensors.inputs(), tensors.options);
    for (Index i = 0; i < queries; ++i) CHECK(std::isfinite(results.output(0, 0, i, 0)));
  }
}

TEST_CASE("random expressions beside every other option and result") {
  Random random(93);
  for (int n = 0; n < 80; ++n) {
    AttentionCase one = random_sizes(random);
    if (random.chance(0.6)) add_random_options(random, one);
    if (random.chance(0.3)) one.score = random_score(random);
    if (random.chance(0.2)) one.blocks = random_blocks(random);
    if (random.chance(0.7)) one.score_mod = 1 + static_cast<int>(random.below(8));
    if (random.chance(0.7)) one.mask_mod = 1 + static_cast<int>(random.below(12));
    check_all_results(random, one);
  }
}

TEST_CASE("random expressions of weights, of every normalizer, beside every other option and result") {
  Random random(96);
  for (int n = 0; n < 80; ++n) {
    AttentionCase one = random_sizes(random);
    if (random.chance(0.6)) add_random_options(random, one);
    if (random.chance(0.3)) one.score_mod = 1 + static_cast<int>(random.below(8));
    if (random.chance(0.3)) one.mask_mod = 1 + static_cast<int>(random.below(12));
    one.weight_mod = 1 + static_cast<int>(random.below(8));
    check_all_results(random, one);
  }
}

TEST_CASE("masked keys weigh nothing whatever is made of weights, NaN keys and values included") {
  Random random(97);
  for (const Index queries : {2, 40}) {
    AttentionTensors tensors = make_tensors(random, {.queries = queries, .keys = 200, .causal = Causal::upper_left});
    const Program more = program_of([](Program& p) { return p.apply(Opcode::add, {p.score(), p.constant(0.5F)}); });
    const OwnedExpressions expressions({nullptr, nullptr, &more});
    tensors.options.expressions = expressions.view();
    check_tensors(tensors);
    for (Index j = queries; j < 200; ++j) {
      for (Index d = 0; d < 8; ++d) tensors.key(0, 0, j, d) = tensors.value(0, 0, j, d) = kNan;
    }
    const Results results = run(tensors.inputs(), tensors.options);
    for (Index i = 0; i < queries; ++i) {
      CHECK(std::isfinite(results.output(0, 0, i, 0)));
      CHECK(results.weights(0, 0, i, queries) == 0.0F);
    }
  }
}

}  // namespace heed::testing
