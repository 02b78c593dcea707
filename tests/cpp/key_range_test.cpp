// Ranges of visible keys against the rules, asked key by key.
#include "problem/key_range.hpp"

#include <catch_amalgamated.hpp>
#include <optional>
#include <vector>

#include "support.hpp"

namespace heed::testing {
namespace {

float somewhere = 0.0F;
std::uint8_t some_mask = 0;

struct Call {
  Index queries, keys;
  Index mask_keys;                                                      // how far a short mask reaches
  std::vector<std::int32_t> query_lengths, key_lengths, query_offsets;  // for two batch entries, or none
  AttentionOptions options;
};

const std::int32_t* numbers_or_null(const std::vector<std::int32_t>& numbers) {
  return numbers.empty() ? nullptr : numbers.data();
}

AttentionProblem problem_of(const Call& call) {
  AttentionOptions options = call.options;
  options.query_lengths = numbers_or_null(call.query_lengths);
  options.key_lengths = numbers_or_null(call.key_lengths);
  options.query_offsets = numbers_or_null(call.query_offsets);
  AttentionProblem problem{};
  const Status status =
      make_attention_problem({.query = bhnd_view<const float>(&somewhere, {2, 1, call.queries, 8}),
                              .key = bhnd_view<const float>(&somewhere, {2, 1, call.keys, 8}),
                              .value = bhnd_view<const float>(&somewhere, {2, 1, call.keys, 8}),
                              .mask = bhnd_view<const std::uint8_t>(&some_mask, {1, 1, 1, call.mask_keys}),
                              .bias = {}},
                             options, {}, problem);
  INFO(status.message());
  REQUIRE(status.is_ok());
  return problem;
}

/// The rules in the words of the options' own comments.
bool sees(const Call& call, std::size_t batch, Index query, Index key) {
  const Index queries = call.query_lengths.empty() ? call.queries : call.query_lengths[batch];
  const Index keys = call.key_lengths.empty() ? call.keys : call.key_lengths[batch];
  if (query >= queries || key >= keys) return false;
  if (call.mask_keys != 1 && key >= call.mask_keys) return false;

  Index position = query;
  if (!call.query_offsets.empty()) {
    position += call.query_offsets[batch];
  } else if (call.options.causal != Causal::upper_left) {
    position += keys - queries;
  }
  if (call.options.causal != Causal::none && key > position) return false;
  const Window& window = call.options.window;
  if (window.left != kOpen && position - key > window.left) return false;
  return window.right == kOpen || key - position <= window.right;
}

/// How many queries see other keys than they should.
int count_wrong(const Call& call) {
  const AttentionProblem problem = problem_of(call);
  int wrong = 0;
  for (Index batch = 0; batch < 2; ++batch) {
    for (Index query = 0; query < call.queries; ++query) {
      const KeyRange range = visible_keys(problem, batch, query);
      bool is_right = 0 <= range.begin && range.begin <= range.end && range.end <= call.keys;
      for (Index key = 0; key < call.keys; ++key) {
        const bool is_in = range.begin <= key && key < range.end;
        is_right &= is_in == sees(call, static_cast<std::size_t>(batch), query, key);
      }
      wrong += is_right ? 0 : 1;
    }
  }
  return wrong;
}

const std::vector<std::int32_t> kSides = {kOpen, 0, 1, 3, 100, 1 << 30};

/// Calls with every alignment and window; `change` sets the rest.
template <typename Change>
int count_wrong_everywhere(Change change) {
  int wrong = 0;
  for (const Causal causal : {Causal::none, Causal::lower_right, Causal::upper_left}) {
    for (const std::int32_t left : kSides) {
      for (const std::int32_t right : kSides) {
        for (const Index queries : {1, 4, 9}) {
          for (const Index keys : {0, 1, 5, 12}) {
            Call call{.queries = queries, .keys = keys, .mask_keys = 1};
            call.options.causal = causal;
            call.options.window = {.left = left, .right = right};
            change(call);
            wrong += count_wrong(call);
          }
        }
      }
    }
  }
  return wrong;
}

std::int32_t below(Random& random, Index count) { return static_cast<std::int32_t>(random.below(count)); }

}  // namespace

TEST_CASE("visible keys follow the alignment and never leave the keys there are") {
  const auto ends = [](Index queries, Index keys, Causal causal) {
    Call call{.queries = queries, .keys = keys, .mask_keys = 1};
    call.options.causal = causal;
    const AttentionProblem problem = problem_of(call);
    std::vector<Index> found;
    for (Index i = 0; i < queries; ++i) {
      CHECK(visible_keys(problem, 0, i).begin == 0);
      found.push_back(visible_keys(problem, 0, i).end);
    }
    return found;
  };
  CHECK(ends(3, 5, Causal::none) == std::vector<Index>{5, 5, 5});
  CHECK(ends(3, 5, Causal::lower_right) == std::vector<Index>{3, 4, 5});
  CHECK(ends(3, 5, Causal::upper_left) == std::vector<Index>{1, 2, 3});
  CHECK(ends(5, 3, Causal::lower_right) == std::vector<Index>{0, 0, 1, 2, 3});
  CHECK(ends(5, 3, Causal::upper_left) == std::vector<Index>{1, 2, 3, 3, 3});
}

TEST_CASE("a query sees exactly the keys that causal and window leave it") {
  CHECK(count_wrong_everywhere([](Call&) {}) == 0);
}

TEST_CASE("a query sees exactly the keys that causal, window and lengths leave it") {
  Random random(160);
  for (int time = 0; time < 8; ++time) {
    CHECK(count_wrong_everywhere([&random](Call& call) {
            if (random.chance(0.7)) call.query_lengths = {below(random, call.queries + 1), 0};
            if (random.chance(0.7)) call.key_lengths = {below(random, call.keys + 1), static_cast<int>(call.keys)};
          }) == 0);
  }
}

TEST_CASE("a query sees exactly the keys that causal, window, lengths and offsets leave it") {
  Random random(161);
  for (int time = 0; time < 8; ++time) {
    CHECK(count_wrong_everywhere([&random](Call& call) {
            if (random.chance(0.5)) call.query_lengths = {below(random, call.queries + 1), below(random, 2)};
            if (random.chance(0.5)) call.key_lengths = {below(random, call.keys + 1), 0};
            call.query_offsets = {below(random, 40) - 20, below(random, 40) - 20};
          }) == 0);
  }
}

TEST_CASE("keys beyond a short mask are in no range") {
  Random random(162);
  CHECK(count_wrong_everywhere([&random](Call& call) {
          if (call.keys > 2) call.mask_keys = 2 + random.below(call.keys - 2);
          call.key_lengths = {below(random, call.keys + 1), below(random, call.keys + 1)};
        }) == 0);
}

TEST_CASE("offsets at the ends of their type leave a range that is empty or whole") {
  Call call{.queries = 3, .keys = 5, .mask_keys = 1};
  call.query_offsets = {std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()};
  CHECK(count_wrong(call) == 0);
  call.options.window = {.left = 0, .right = 0};
  CHECK(count_wrong(call) == 0);
  call.options.causal = Causal::lower_right;
  call.options.window = {.right = std::numeric_limits<std::int32_t>::max()};
  CHECK(count_wrong(call) == 0);
}

TEST_CASE("a window wider than any position is as good as open") {
  Call call{.queries = 3, .keys = 5, .mask_keys = 1};
  call.options.window = {.left = std::numeric_limits<std::int32_t>::max(),
                         .right = std::numeric_limits<std::int32_t>::max()};
  CHECK(count_wrong(call) == 0);
}

}  // namespace heed::testing
