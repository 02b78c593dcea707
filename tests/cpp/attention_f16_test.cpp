// f16 queries, keys and values give exactly the results of the same numbers in f32.
#include <bit>
#include <catch_amalgamated.hpp>
#include <cmath>

#include "attention_check.hpp"
#include "f16.hpp"
#include "kernels/memory/widen.hpp"
#include "reference/numbers.hpp"

namespace heed::testing {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f16};

/// Each mixture of precisions.
std::vector<AttentionCase> mixtures_of(AttentionCase one) {
  std::vector<AttentionCase> cases;
  for (const DType query : kTypes) {
    for (const DType key : kTypes) {
      for (const DType value : kTypes) {
        one.query_type = query;
        one.key_type = key;
        one.value_type = value;
        cases.push_back(one);
      }
    }
  }
  return cases;
}

AttentionInputs in_single(const AttentionTensors& tensors) {
  return {tensors.query.reading(), tensors.key.reading(), tensors.value.reading(), tensors.mask.reading(),
          tensors.bias.reading()};
}

}  // namespace

TEST_CASE("every f16 number is widened exactly") {
  constexpr int lanes = kernels::kLanes;
  int wrong = 0;
  for (unsigned first = 0; first < 65536U; first += lanes) {
    std::uint16_t f16s[lanes];
    alignas(kernels::kScratchAlignment) float floats[lanes];
    for (unsigned i = 0; i < lanes; ++i) f16s[i] = static_cast<std::uint16_t>(first + i);
    kernels::load_some_f16(f16s, lanes).store_aligned(floats);
    for (unsigned i = 0; i < lanes; ++i) {
      const double exact = reference::value_of(static_cast<Float16>(f16s[i]));
      const auto got = static_cast<double>(floats[i]);
      const bool is_right =
          std::isnan(exact) ? std::isnan(got) : got == exact && std::signbit(got) == std::signbit(exact);
      wrong += is_right ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("f16 numbers of less than a vector are widened, and none beyond is read") {
  constexpr int lanes = kernels::kLanes;
  for (int count = 0; count <= lanes; ++count) {
    const std::vector<std::uint16_t> ones(static_cast<std::size_t>(count), 0x3C00);
    alignas(kernels::kScratchAlignment) float floats[lanes];
    kernels::load_some_f16(ones.data(), count).store_aligned(floats);
    for (int i = 0; i < lanes; ++i) CHECK(floats[i] == (i < count ? 1.0F : 0.0F));
  }
}

TEST_CASE("f16 numbers made for tests are the nearest, and the even one of two") {
  const auto bits = [](float number) { return static_cast<unsigned>(round_to_half(number)); };
  CHECK(bits(1.0F) == 0x3C00U);
  CHECK(bits(-2.0F) == 0xC000U);
  CHECK(bits(65504.0F) == 0x7BFFU);
  CHECK(bits(65519.9F) == 0x7BFFU);
  CHECK(bits(65520.0F) == 0x7C00U);
  CHECK(bits(0x1p-24F) == 0x0001U);
  CHECK(bits(0x1p-25F) == 0x0000U);
  CHECK(bits(0x1.8p-24F) == 0x0002U);
  CHECK(bits(1.0F + 0x1p-11F) == 0x3C00U);
  CHECK(bits(1.0F + 0x1.8p-10F) == 0x3C02U);
  CHECK(bits(0x1.FFFp-15F) == 0x0400U);
}

TEST_CASE("f16 gives the bits of the same numbers in f32, in any mixture and layout") {
  Random random(240);
  for (const Layout layout : {Layout::bhnd, Layout::bnhd, Layout::padded, Layout::shared_heads}) {
    AttentionCase base{
        .batch = 2, .heads = 4, .kv_heads = 2, .queries = 37, .keys = 205, .head_dim = 33, .value_dim = 17};
    base.layout = layout;
    if (layout == Layout::bnhd) base.queries = 1;  // computed by the decode kernel
    for (const Causal causal : {Causal::none, Causal::lower_right}) {
      base.causal = causal;
      for (const AttentionCase& one : mixtures_of(base)) {
        const AttentionTensors tensors = make_tensors(random, one);
        INFO(describe(one));
        const auto expected = run(in_single(tensors), tensors.options).bits();
        CHECK(run(tensors.inputs(), tensors.options).bits() == expected);
        ReverseExecutor executor(3);
        CHECK(run(tensors.inputs(), tensors.options, executor).bits() == expected);
      }
    }
  }
}

TEST_CASE("f16 stays within the error model, together with other options") {
  Random random(241);
  AttentionCase base{.batch = 1, .heads = 4, .kv_heads = 1, .queries = 29, .keys = 130, .head_dim = 8, .value_dim = 5};
  base.mask = Shape{1, 4, 29, 130};
  base.softcap = 2.0F;
  base.has_alibi = base.has_sinks = base.has_key_lengths = true;
  for (const AttentionCase& one : mixtures_of(base)) {
    check_all_results(random, one);
  }
}

TEST_CASE("an f16 number that is NaN or infinite reaches what sees it and nothing else") {
  Random random(242);
  AttentionCase one{.heads = 2, .queries = 20, .keys = 150, .value_dim = 6};
  one.key_type = one.value_type = DType::f16;
  one.mask = Shape{1, 1, 1, 150};
  AttentionTensors tensors = make_tensors(random, one);
  for (const bool is_attended : {false, true}) {
    tensors.mask(0, 0, 0, 101) = is_attended ? 1 : 0;
    const Results clean = run(tensors.inputs(), tensors.options);
    for (const Float16 bad : {Float16{0x7E00}, Float16{0x7C00}, Float16{0xFC00}}) {
      const Float16 good = std::exchange(tensors.half_value(0, 0, 101, 2), bad);
      const Results spoilt = run(tensors.inputs(), tensors.options);
      tensors.half_value(0, 0, 101, 2) = good;
      int wrong = 0;
      for_each_element(one.output_shape(), [&](Index b, Index h, Index i, Index e) {
        const bool is_reached = is_attended && e == 2;
        wrong += (spoilt.output(b, h, i, e) == clean.output(b, h, i, e)) == is_reached ? 1 : 0;
      });
      INFO(", attended " << is_attended << ", bits " << static_cast<int>(bad));
      CHECK(wrong == 0);
    }
  }
}

}  // namespace heed::testing
