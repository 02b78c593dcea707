// Calls of rope that both languages must refuse: tests/cases/rope-rejects.json.
#include "heed/machine.hpp"
#include "operations/rope.hpp"
#include "reject_list.hpp"

namespace heed::testing {

TEST_CASE("rope refuses every call of the list with its code and its words, and writes nothing") {
  check_rejects("rope-rejects.json", [](const Json& entry) {
    const Owned<float> input = zeros_of(entry, "input", 1);
    const Owned<float> cosines = zeros_of(entry, "cos", 1), sines = zeros_of(entry, "sin", 1);
    const Json given = entry.value("options", Json::object());
    std::vector<double> positions;
    for (const Json& position : given.value("positions", Json::array())) {
      positions.push_back(static_cast<double>(number_of(position)));
    }
    const std::vector<double> frequencies(64, 1.0);
    const RopeOptions options{.rotary_dim = given.value("rotaryDim", Index{0}),
                              .frequencies = frequencies.data(),
                              .positions = positions.empty() ? nullptr : positions.data()};
    const Owned<float> output = allocate(input.view.shape, Layout::bhnd, 1.5F);
    Status status = rope({input.reading(), cosines.reading(), sines.reading()}, options, output.view, calling_thread());
    CHECK(std::ranges::all_of(output.numbers, [](float number) { return number == 1.5F; }));
    return status;
  });
}

TEST_CASE("rope refuses what only C++ can say") {
  const Owned<float> input = allocate({1, 2, 5, 4}, Layout::bhnd, 0.0F);
  const Owned<float> narrow = allocate({1, 2, 5, 2}, Layout::bhnd, 0.0F);
  const std::vector<double> frequencies{1.0, kInfinity};
  CHECK(rope({.input = input.reading()}, {}, input.view, calling_thread()).code() == StatusCode::option);
  CHECK(rope({.input = input.reading()}, {.frequencies = frequencies.data()}, input.view, calling_thread()).code() ==
        StatusCode::option);
  CHECK(rope({.input = input.reading()}, {.rotary_dim = 2, .frequencies = frequencies.data(), .magnitude = kNan},
             input.view, calling_thread())
            .code() == StatusCode::option);
  CHECK(rope({.input = input.reading()}, {.rotary_dim = 2, .frequencies = frequencies.data()}, narrow.view,
             calling_thread())
            .code() == StatusCode::shape);
}

}  // namespace heed::testing
