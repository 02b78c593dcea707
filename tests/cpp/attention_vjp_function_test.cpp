// The backward pass through the caller's functions of scores and weights, and to the tables that they read.
#include <array>
#include <catch_amalgamated.hpp>
#include <functional>

#include "attention_check.hpp"
#include "vjp_check.hpp"

namespace heed::testing {
namespace {

using Value = Program::Value;
using Build = std::function<Value(Program&)>;

/// A number that a function reads from a table: the derivative with respect to it, and its indices.
struct ReadCase {
  std::int32_t table;
  Build slope;
  std::vector<Build> indices;
};

/// A function and its derivatives, by hand.
struct FunctionCase {
  Build function;
  Build slope;
  std::vector<ReadCase> reads = {};
};

Program program_of(const Build& build) {
  Program program;
  program.finish(build(program));
  return program;
}

constexpr std::int32_t kHeads = 4;
constexpr std::int32_t kDistances = 17;

/// Numbers by head, and by head and distance.
std::vector<TableCase> make_tables(Random& random) {
  std::vector<TableCase> tables = {{.sizes = {kHeads}, .numbers = std::vector<float>(kHeads)},
                                   {.sizes = {kHeads, kDistances}, .numbers = std::vector<float>(kHeads * kDistances)}};
  for (TableCase& table : tables) {
    for (float& number : table.numbers) number = random.normal();
  }
  return tables;
}

/// The words of a call's functions and their derivatives.
class Functions {
 public:
  Functions(Random& random, const FunctionCase* of_scores, const FunctionCase* of_weights) {
    const Build none = [](Program& p) { return p.score(); };
    const Program score = program_of(of_scores == nullptr ? none : of_scores->function);
    const Program weight = program_of(of_weights == nullptr ? none : of_weights->function);
    const std::vector<TableCase> tables = make_tables(random);
    expressions_ = OwnedExpressions(
        {of_scores == nullptr ? nullptr : &score, nullptr, of_weights == nullptr ? nullptr : &weight}, tables);
    for (std::size_t table = 0, target = 0; table < tables.size(); target += tables[table++].numbers.size()) {
      targets_.push_back(static_cast<std::int32_t>(target));
    }
    if (of_scores != nullptr) slopes_.score = add(ProgramOf::score, *of_scores);
    if (of_weights != nullptr) slopes_.weight = add(ProgramOf::weight, *of_weights);
    slopes_.reads = reads_.data();
    slopes_.read_count = std::ssize(reads_);
  }

  [[nodiscard]] Expressions expressions() const { return expressions_.view(); }
  [[nodiscard]] ExpressionSlopes slopes() const { return slopes_; }

 private:
  std::int32_t add(ProgramOf which, const FunctionCase& function) {
    for (const ReadCase& one : function.reads) {
      TableRead read{.reader = static_cast<std::int32_t>(which),
                     .table = one.table,
                     .target = targets_[static_cast<std::size_t>(one.table)],
                     .slope = expressions_.add(program_of(one.slope)),
                     .indices = {}};
      for (std::size_t axis = 0; axis < one.indices.size(); ++axis) {
        read.indices[axis] = expressions_.add(program_of(one.indices[axis]));
      }
      reads_.push_back(read);
    }
    return expressions_.add(program_of(function.slope));
  }

  OwnedExpressions expressions_;
  std::vector<std::int32_t> targets_;
  std::vector<TableRead> reads_;
  ExpressionSlopes slopes_;
};

Value times(Program& p, Value a, Value b) { return p.apply(Opcode::mul, {a, b}); }
Value plus(Program& p, Value a, Value b) { return p.apply(Opcode::add, {a, b}); }
Value one(Program& p) { return p.constant(1.0F); }
Value taken(Program& p) { return p.score(); }
Value of_head(Program& p) { return p.at(0, {p.head()}); }
/// From -8 to 8, those beyond as the last.
Value distance(Program& p) { return plus(p, p.apply(Opcode::sub, {p.query(), p.key()}), p.constant(kDistances / 2)); }
Value by_distance(Program& p) { return p.at(1, {p.head(), distance(p)}); }
Value is_near(Program& p) {
  const Value apart = p.apply(Opcode::abs, {p.apply(Opcode::sub, {p.query(), p.key()})});
  return p.apply(Opcode::less, {apart, p.constant(9.0F)});
}
Value bent(Program& p) { return p.apply(Opcode::tanh, {times(p, p.score(), p.constant(0.5F))}); }
const Build kHead = [](Program& p) { return p.head(); };

const FunctionCase kSquare = {.function = [](Program& p) { return times(p, p.score(), p.score()); },
                              .slope = [](Program& p) { return plus(p, p.score(), p.score()); }};

const FunctionCase kSoftcap = {
    .function = [](Program& p) { return times(p, bent(p), p.constant(2.0F)); },
    .slope = [](Program& p) { return p.apply(Opcode::sub, {one(p), times(p, bent(p), bent(p))}); }};

/// A factor by head, and a relative bias.
const FunctionCase kTables = {
    .function = [](Program& p) { return plus(p, times(p, p.score(), of_head(p)), by_distance(p)); },
    .slope = of_head,
    .reads = {{.table = 0, .slope = taken, .indices = {kHead}},
              {.table = 1, .slope = one, .indices = {kHead, distance}}}};

/// Masks what is far, and multiplies the rest with the square of a table's number, which is read twice.
const FunctionCase kNear = {.function =
                                [](Program& p) {
                                  const Value scaled = times(p, p.score(), times(p, by_distance(p), by_distance(p)));
                                  return p.apply(Opcode::select, {is_near(p), scaled, p.constant(-kInfinity)});
                                },
                            .slope =
                                [](Program& p) {
                                  const Value factor = times(p, by_distance(p), by_distance(p));
                                  return p.apply(Opcode::select, {is_near(p), factor, p.constant(0.0F)});
                                },
                            .reads = {{.table = 1,
                                       .slope =
                                           [](Program& p) {
                                             const Value twice =
                                                 times(p, p.score(), times(p, p.constant(2.0F), by_distance(p)));
                                             return p.apply(Opcode::select, {is_near(p), twice, p.constant(0.0F)});
                                           },
                                       .indices = {kHead, distance}}}};

AttentionCase base() { return {.batch = 2, .heads = kHeads, .kv_heads = 2, .queries = 21, .keys = 40, .head_dim = 12}; }

/// As many keys as take several splits, and wide heads; few queries, since the reference takes long.
void many_keys(AttentionCase& one) {
  one.queries = 5;
  one.keys = 600;
  one.head_dim = one.value_dim = 128;
}

bool check(Random& random, const AttentionCase& one, const FunctionCase* of_scores, const FunctionCase* of_weights) {
  INFO(describe(one));
  const Functions functions(random, of_scores, of_weights);
  AttentionTensors tensors = make_tensors(random, one);
  tensors.options.expressions = functions.expressions();
  VjpGiven given = run_forward(random, tensors, functions.slopes());
  if (random.chance(0.3)) give_weights_gradient(random, given);
  return check_gradients(given, tensors);
}

}  // namespace

TEST_CASE("gradients pass through functions of scores to queries, keys and tables", "[vjp]") {
  Random random(930);
  for (const FunctionCase* function : {&kSquare, &kSoftcap, &kTables, &kNear}) {
    const auto with = [&](auto change) {
      AttentionCase one = base();
      change(one);
      CHECK(check(random, one, function, nullptr));
    };
    with([](AttentionCase&) {});
    with([](AttentionCase& one) { one.causal = Causal::lower_right; });
    with([](AttentionCase& one) { one.softcap = 1.5F; });
    with([](AttentionCase& one) { one.has_sinks = one.has_alibi = true; });
    with([](AttentionCase& one) { one.mask = Shape{1, 1, 21, 40}; });
    with([](AttentionCase& one) { one.bias = Shape{1, 4, 21, 40}; });
    with([](AttentionCase& one) { one.score.kind = ScoreKind::cosine; });
    with([](AttentionCase& one) { one.score.kind = ScoreKind::rbf; });
    with([](AttentionCase& one) { one.score.kind = ScoreKind::additive; });
    with([](AttentionCase& one) { one.normalizer = Normalizer::sigmoid; });
    with([](AttentionCase& one) { one.dropout = Dropout{.p = 0.3F, .seed = 7}; });
    with([](AttentionCase& one) { one.keys = 0; });
    with([](AttentionCase& one) { one.queries = 0; });
    with([](AttentionCase& one) { many_keys(one); });
  }
}

TEST_CASE("functions of queries and keys that are masked reach no gradient", "[vjp]") {
  Random random(935);
  for (const FunctionCase* of_weights : {static_cast<const FunctionCase*>(nullptr), &kTables}) {
    const Functions functions(random, &kTables, of_weights);
    AttentionCase one = base();
    one.has_query_lengths = one.has_key_lengths = true;
    AttentionTensors tensors = make_tensors(random, one);
    tensors.query_lengths = {13, 21};
    tensors.key_lengths = {40, 25};
    tensors.options.query_lengths = tensors.query_lengths.data();
    tensors.options.key_lengths = tensors.key_lengths.data();
    tensors.options.expressions = functions.expressions();
    VjpGiven given = run_forward(random, tensors, functions.slopes());
    const auto expected = run_backward(given, tensors).bits();
    const auto spoil = [](Owned<float>& tensor, const std::vector<std::int32_t>& lengths) {
      for_each_element(tensor.view.shape, [&](Index b, Index h, Index i, Index d) {
        if (i >= lengths[static_cast<std::size_t>(b)]) tensor(b, h, i, d) = kNan;
      });
    };
    spoil(tensors.query, tensors.query_lengths);
    spoil(given.output_gradient, tensors.query_lengths);
    spoil(tensors.key, tensors.key_lengths);
    spoil(tensors.value, tensors.key_lengths);
    CHECK((run_backward(given, tensors).bits() == expected));
  }
}

TEST_CASE("gradients pass through functions of weights", "[vjp]") {
  Random random(931);
  for (const FunctionCase* function : {&kSquare, &kSoftcap, &kTables}) {
    const auto with = [&](auto change) {
      AttentionCase one = base();
      change(one);
      CHECK(check(random, one, nullptr, function));
    };
    with([](AttentionCase&) {});
    with([](AttentionCase& one) { one.causal = Causal::upper_left; });
    with([](AttentionCase& one) { one.has_sinks = true; });
    with([](AttentionCase& one) { one.dropout = Dropout{.p = 0.3F, .seed = 7}; });
    with([](AttentionCase& one) { one.normalizer = Normalizer::sigmoid; });
    with([](AttentionCase& one) { one.normalizer = Normalizer::none; });
    with([](AttentionCase& one) { many_keys(one); });
  }
}

TEST_CASE("functions of both, with choices that are held fixed", "[vjp]") {
  Random random(932);
  int checked = 0;
  constexpr int kTimes = 24;
  for (int time = 0; time < kTimes; ++time) {
    AttentionCase one = base();
    one.normalizer = random.pick(
        std::vector<Normalizer>{Normalizer::softmax, Normalizer::sparsemax, Normalizer::hard, Normalizer::sigmoid});
    if (one.normalizer == Normalizer::softmax || random.chance(0.4)) one.top_k = 1 + random.below(8);
    if (random.chance(0.3)) one.causal = Causal::lower_right;
    if (random.chance(0.3)) one.mask_mod = 0;
    checked += check(random, one, &kTables, random.chance(0.5) ? &kTables : &kSquare) ? 1 : 0;
  }
  CHECK(checked >= kTimes / 2);
}

TEST_CASE("gradients of tables have the same bits by any workers", "[vjp]") {
  Random random(933);
  const Functions functions(random, &kTables, &kTables);
  AttentionCase one = base();
  one.keys = 600;
  one.head_dim = one.value_dim = 128;
  AttentionTensors tensors = make_tensors(random, one);
  tensors.options.expressions = functions.expressions();
  const VjpGiven given = run_forward(random, tensors, functions.slopes());
  check_workers(given, tensors);
}

TEST_CASE("functions without their derivatives are refused", "[vjp]") {
  Random random(934);
  const Functions functions(random, &kTables, &kSquare);
  AttentionTensors tensors = make_tensors(random, base());
  tensors.options.expressions = functions.expressions();
  const VjpGiven given = run_forward(random, tensors, functions.slopes());
  const auto refused = [&](const char* part, auto change) {
    AttentionVjpInputs inputs = given.inputs;
    Gradients gradients(tensors);
    AttentionGradients views = gradients.views();
    std::vector<TableRead> reads(inputs.slopes.reads, inputs.slopes.reads + inputs.slopes.read_count);
    inputs.slopes.reads = reads.data();
    change(inputs.slopes, views, reads);
    const Status status = attention_vjp(inputs, tensors.options, views, calling_thread());
    INFO(status.message());
    CHECK(status.code() == StatusCode::option);
    CHECK_THAT(std::string(status.message()), Catch::Matchers::ContainsSubstring(part));
  };
  using Slopes = ExpressionSlopes;
  using Views = AttentionGradients;
  using Reads = std::vector<TableRead>;
  refused("scoreMod must come", [](Slopes& slopes, Views&, Reads&) { slopes.score = 0; });
  refused("probMod must come", [](Slopes& slopes, Views&, Reads&) { slopes.weight = 0; });
  refused("gradients of tables", [](Slopes&, Views& views, Reads&) { views.tables = nullptr; });
#ifndef __EMSCRIPTEN__
  constexpr const char* kVersion = "programs of this version";
  refused(kVersion, [](Slopes& slopes, Views&, Reads&) { slopes.score = 1; });
  refused(kVersion, [](Slopes&, Views& views, Reads&) { --views.table_numbers; });
  refused(kVersion, [](Slopes&, Views&, Reads& reads) { reads[0].reader = 1; });
  refused(kVersion, [](Slopes&, Views&, Reads& reads) { reads[0].table = 2; });
  refused(kVersion, [](Slopes&, Views&, Reads& reads) { reads[0].target = -1; });
  refused(kVersion, [](Slopes&, Views&, Reads& reads) { reads[0].slope = 0; });
  refused(kVersion, [](Slopes&, Views&, Reads& reads) { reads[1].indices[1] = 1 << 20; });
#endif
}

}  // namespace heed::testing
