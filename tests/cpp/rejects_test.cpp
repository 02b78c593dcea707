// Calls that both languages must refuse: the list is tests/cases/attention-rejects.json.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <map>

#include "heed/attention.hpp"
#include "heed/machine.hpp"
#include "reject_list.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

/// Options, and the numbers of those that are tensors.
struct Options {
  AttentionOptions given;
  std::map<std::string, Owned<float>> parameters;
  Owned<std::uint8_t> keep;
  std::vector<float> sinks;
};

/// A parameter of a score function, [1, heads, rows, columns]: a tensor of zeros, or a number or one for each head.
Owned<float> parameter_of(const std::string& name, const Json& value) {
  if (value.is_object()) {
    Shape shape{1, 1, 1, 1};
    const std::vector<Index> sizes = value["zeros"].get<std::vector<Index>>();
    // Vectors are rows; what has an axis more than it should is one for each head.
    const bool is_vector = name == "b" || name == "v" || (name == "w" && sizes.size() == 1);
    const std::size_t end = is_vector && sizes.size() == 2 ? 2 : 4;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) shape[4 - sizes.size() + axis] = sizes[axis];
    if (end == 2) shape = {1, sizes[0], 1, sizes[1]};
    return allocate(shape, Layout::bhnd, 0.0F);
  }
  const std::vector<Json> numbers = value.is_array() ? value.get<std::vector<Json>>() : std::vector<Json>{value};
  Owned<float> made = allocate({1, std::ssize(numbers), 1, 1}, Layout::bhnd, 0.0F);
  for (std::size_t h = 0; h < numbers.size(); ++h) made.numbers[h] = number_of(numbers[h]);
  return made;
}

void read_score(const Json& score, Options& options) {
  const std::vector<std::string> kinds = {"scaled-dot", "dot",   "cosine", "general",
                                          "additive",   "gated", "rbf",    "distance"};
  const std::map<std::string, TensorView<const float> ScoreFunction::*> views = {
      {"w", &ScoreFunction::w}, {"wq", &ScoreFunction::wq}, {"wk", &ScoreFunction::wk},
      {"b", &ScoreFunction::b}, {"v", &ScoreFunction::v},   {"bandwidth", &ScoreFunction::bandwidth}};
  const std::string kind = score.is_string() ? score.get<std::string>() : score["type"].get<std::string>();
  options.given.score.kind = static_cast<ScoreKind>(std::ranges::find(kinds, kind) - kinds.begin());
  if (score.is_string()) return;
  for (const auto& [name, value] : score.items()) {
    if (name == "type") continue;
    Owned<float>& owned = options.parameters[name] = parameter_of(name, value);
    options.given.score.*views.at(name) = owned.reading();
  }
}

Options options_of(const Json& entry) {
  Options options;
  const Json given = entry.value("options", Json::object());
  for (const auto& [name, value] : given.items()) {
    INFO("option " << name);
    if (name == "score") {
      read_score(value, options);
      continue;
    }
    if (name == "normalize") {
      const std::vector<std::string> kinds = {"softmax", "sparsemax", "sigmoid", "hard", "none"};
      options.given.normalizer =
          static_cast<Normalizer>(std::ranges::find(kinds, value.get<std::string>()) - kinds.begin());
      continue;
    }
    if (name == "topK") {
      options.given.top_k = value.get<std::int32_t>();
      continue;
    }
    if (name == "blocks") {
      options.keep = allocate<std::uint8_t>(value["keep"]["bytes"].get<Shape>(), Layout::bhnd, 0);
      options.given.blocks = {.keep = options.keep.reading(),
                              .queries = value["size"][0].get<Index>(),
                              .keys = value["size"][1].get<Index>()};
      continue;
    }
    if (name == "sinks") {
      options.sinks = value.get<std::vector<float>>();
      options.given.sinks = options.sinks.data();
      continue;
    }
    REQUIRE(name == "scale");
    options.given.scale = number_of(value);
  }
  return options;
}

}  // namespace

TEST_CASE("every call of the rejects list is refused with its code and its words, and nothing is written") {
  check_rejects("attention-rejects.json", [](const Json& entry) {
    const auto tensor = [&entry](const char* name) {
      return entry.contains(name) ? allocate(entry[name].get<Shape>(), Layout::bhnd, 0.0F) : Owned<float>();
    };
    const Owned<float> query = tensor("query"), key = tensor("key"), value = tensor("value"), bias = tensor("bias");
    Owned<std::uint8_t> mask;
    if (entry.contains("mask")) mask = allocate<std::uint8_t>(entry["mask"].get<Shape>(), Layout::bhnd, 1);

    const Shape& q = query.view.shape;
    const Owned<float> output = allocate({q[0], q[1], q[2], value.view.shape[3]}, Layout::bhnd, 1.5F);
    const Options options = options_of(entry);
    Status status =
        attention({query.reading(), key.reading(), value.reading(), mask.reading(), bias.reading()}, options.given,
                  {.output = output.view, .weights = {}, .log_sum_exp = {}}, calling_thread());
    CHECK(std::ranges::all_of(output.numbers, [](float number) { return number == 1.5F; }));
    return status;
  });
}

}  // namespace heed::testing
