// Calls of linear attention that both languages must refuse: tests/cases/linear-rejects.json.
#include "heed/machine.hpp"
#include "operations/linear_attention.hpp"
#include "reject_list.hpp"

namespace heed::testing {
namespace {

LinearOptions linear_options_of(const Json& given) {
  static const std::map<std::string, LinearRule> rules = {{"linear", LinearRule::linear},
                                                          {"gated", LinearRule::gated},
                                                          {"delta", LinearRule::delta},
                                                          {"gated-delta", LinearRule::gated_delta},
                                                          {"elu", LinearRule::elu}};
  LinearOptions options{.rule = rules.at(given["rule"].get<std::string>()), .causal = given.value("causal", true)};
  if (given.contains("scale")) options.scale = number_of(given["scale"]);
  return options;
}

}  // namespace

TEST_CASE("linear attention refuses every call of the list with its code and its words, and writes nothing") {
  check_rejects("linear-rejects.json", [](const Json& entry) {
    const auto tensor = [&entry](const char* name) { return zeros_of(entry, name, 3); };
    const Owned<float> query = tensor("query"), key = tensor("key"), value = tensor("value"), decay = tensor("decay"),
                       beta = tensor("beta"), state = tensor("state");
    const Shape& q = query.view.shape;
    const Owned<float> output = allocate({q[0], q[1], q[2], value.view.shape[3]}, Layout::bhnd, 1.5F);
    Status status = linear_attention(
        {query.reading(), key.reading(), value.reading(), decay.reading(), beta.reading(), state.reading()},
        linear_options_of(entry["options"]), {.output = output.view}, calling_thread());
    CHECK(std::ranges::all_of(output.numbers, [](float number) { return number == 1.5F; }));
    return status;
  });
}

TEST_CASE("linear attention refuses outputs of other sizes and views that it cannot read") {
  const Owned<float> tensor = allocate({1, 2, 5, 4}, Layout::bhnd, 0.0F);
  const Owned<float> narrow = allocate({1, 2, 5, 3}, Layout::bhnd, 0.0F);
  const LinearInputs inputs{tensor.reading(), tensor.reading(), tensor.reading(), {}, {}, {}};
  CHECK(linear_attention(inputs, {}, {.output = narrow.view}, calling_thread()).code() == StatusCode::shape);
  CHECK(linear_attention(inputs, {}, {.state = tensor.view}, calling_thread()).code() == StatusCode::shape);
  LinearInputs strided = inputs;
  strided.value.strides[3] = 2;
  CHECK(linear_attention(strided, {}, {.output = tensor.view}, calling_thread()).code() == StatusCode::shape);
  LinearInputs absent = inputs;
  absent.key.data = nullptr;
  CHECK(linear_attention(absent, {}, {.output = tensor.view}, calling_thread()).code() == StatusCode::shape);
}

}  // namespace heed::testing
