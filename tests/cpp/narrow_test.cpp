// Layers with stored weights against the weights as GGML's documents define them, in double precision.
#include <catch_amalgamated.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "error_model.hpp"
#include "f16.hpp"
#include "kernels/instances/narrow.hpp"
#include "layer_scene.hpp"
#include "operations/narrow/narrow_affine.hpp"
#include "operations/narrow/narrow_gather.hpp"
#include "operations/narrow/narrow_gru.hpp"
#include "operations/narrow/narrow_product.hpp"
#include "report.hpp"

namespace heed::testing {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::f16,  WeightFormat::bf16,     WeightFormat::int8,
                                     WeightFormat::int4, WeightFormat::int4_min, WeightFormat::q4_k};

int multiple_of(WeightFormat format) { return kernels::block_of(format).numbers; }

/// A matrix in its stored form, of random bits, and what its numbers are.
struct Stored {
  WeightFormat format;
  Index outputs, inputs;
  std::vector<std::uint8_t> bytes;
  std::vector<double> numbers;  // [outputs][inputs]

  Stored(Random& random, WeightFormat format_, Index outputs_, Index inputs_)
      : format(format_), outputs(outputs_), inputs(inputs_) {
    for (Index i = 0; i < outputs * inputs / multiple_of(format); ++i) add_block(random);
    while (bytes.size() % 4 != 0) bytes.push_back(0xFF);
  }

  [[nodiscard]] double at(Index output, Index i) const {
    return numbers[static_cast<std::size_t>(output * inputs + i)];
  }

 private:
  double put_f16(float number) {
    std::uint16_t bits = 0;
    const Float16 rounded = round_to_half(number);
    std::memcpy(&bits, &rounded, sizeof bits);
    append(&bits, sizeof bits);
    const int exponent = bits >> 10 & 31, digits = bits & 1023;
    const double size = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25);
    return (bits >> 15) != 0 ? -size : size;
  }
  void append(const void* from, std::size_t count) {
    const auto* const first = static_cast<const std::uint8_t*>(from);
    bytes.insert(bytes.end(), first, first + count);
  }
  std::vector<int> put_nibbles(Random& random, int count) {
    std::vector<int> all(static_cast<std::size_t>(2 * count));
    for (int i = 0; i < count; ++i) {
      const auto byte = static_cast<int>(random.below(256));
      bytes.push_back(static_cast<std::uint8_t>(byte));
      all[static_cast<std::size_t>(i)] = byte % 16;
      all[static_cast<std::size_t>(count + i)] = byte / 16;
    }
    return all;
  }
  void add_block(Random& random) {
    if (format == WeightFormat::f16) {
      numbers.push_back(put_f16(random.normal()));
    } else if (format == WeightFormat::bf16) {
      const float number = random.normal();
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, 4);
      bits &= 0xFFFF0000U;
      float kept = 0.0F;
      std::memcpy(&kept, &bits, 4);
      append(reinterpret_cast<const std::uint8_t*>(&bits) + 2, 2);
      numbers.push_back(static_cast<double>(kept));
    } else if (format == WeightFormat::int8) {
      const double d = put_f16(random.normal());
      for (int i = 0; i < 32; ++i) {
        // -128 too, which no quantizer writes.
        const auto number = static_cast<int>(random.below(256)) - 128;
        bytes.push_back(static_cast<std::uint8_t>(number));
        numbers.push_back(d * number);
      }
    } else if (format == WeightFormat::int4) {
      const double d = put_f16(random.normal());
      for (const int u : put_nibbles(random, 16)) numbers.push_back(d * (u - 8));
    } else if (format == WeightFormat::int4_min) {
      const double d = put_f16(random.normal()), m = put_f16(random.normal());
      for (const int u : put_nibbles(random, 16)) numbers.push_back(d * u + m);
    } else {
      const double d = put_f16(random.normal()), m = put_f16(random.normal());
      int scales[8], minima[8];
      for (int i = 0; i < 8; ++i) {
        scales[i] = static_cast<int>(random.below(64));
        minima[i] = static_cast<int>(random.below(64));
      }
      std::uint8_t packed[12] = {};
      for (int i = 0; i < 4; ++i) {
        packed[i] = static_cast<std::uint8_t>(scales[i] + scales[i + 4] / 16 * 64);
        packed[i + 4] = static_cast<std::uint8_t>(minima[i] + minima[i + 4] / 16 * 64);
        packed[i + 8] = static_cast<std::uint8_t>(scales[i + 4] % 16 + minima[i + 4] % 16 * 16);
      }
      append(packed, sizeof packed);
      for (int pair = 0; pair < 4; ++pair) {
        const std::vector<int> all = put_nibbles(random, 32);
        for (int i = 0; i < 64; ++i) {
          const int group = 2 * pair + i / 32;
          numbers.push_back(d * scales[group] * all[static_cast<std::size_t>(i)] - m * minima[group]);
        }
      }
    }
  }
};

/// Packed matrices, one after the other, aligned as the engine's memory is, from pieces of so many rows.
class PackedWeights {
 public:
  explicit PackedWeights(const std::vector<const Stored*>& all, Index piece = 1 << 20) {
    Index bytes = 0;
    for (const Stored* one : all) bytes += bytes_of_one(*one);
    numbers_.assign(static_cast<std::size_t>(bytes / 4 + 16), kNan);
    const auto address = reinterpret_cast<std::uintptr_t>(numbers_.data());
    data_ = numbers_.data() + (64 - address % 64) % 64 / sizeof(float);
    auto* target = reinterpret_cast<std::uint8_t*>(data_);
    for (const Stored* one : all) {
      pack(*one, target, piece);
      target += bytes_of_one(*one);
    }
  }
  explicit PackedWeights(const Stored& one, Index piece = 1 << 20) : PackedWeights(std::vector{&one}, piece) {}

  [[nodiscard]] const float* data() const { return data_; }

 private:
  static Index bytes_of_one(const Stored& one) {
    return (one.outputs + 15) / 16 * kernels::panel_bytes(one.format, static_cast<std::ptrdiff_t>(one.inputs));
  }
  /// By the kernel: a call would need addresses of 32 bits.
  static void pack(const Stored& one, std::uint8_t* target, Index piece) {
    const auto [count, size] = kernels::block_of(one.format);
    for (Index first = 0; first < one.outputs; first += piece) {
      for (Index output = first; output < std::min(one.outputs, first + piece); output += 16) {
        kernels::pack_panel(
            {.format = one.format,
             .rows = one.bytes.data() + output * one.inputs / count * size,
             .inputs = static_cast<std::ptrdiff_t>(one.inputs),
             .row_count = static_cast<int>(std::min<Index>(16, one.outputs - output)),
             .panel =
                 target + output / 16 * kernels::panel_bytes(one.format, static_cast<std::ptrdiff_t>(one.inputs))});
      }
    }
  }

  std::vector<float> numbers_;
  float* data_ = nullptr;
};

OwnedRows multiply(const Stored& stored, const PackedWeights& packed, const OwnedRows& input,
                   const Pointwise& rule = {}, Executor& executor = calling_thread()) {
  OwnedRows output(input.rows.count, stored.outputs, kUntouched, 3);
  compute(NarrowAffineCall{stored.format, input.reading(), packed.data(), rule, output.rows}, executor);
  return output;
}

/// How far a product may be from that of the numbers that are stored: activations are rounded to half a unit of their
/// group, whole sums are exact, and f32 sums of groups round a few times each.
double bound_of(const Stored& stored, const OwnedRows& input, Index row, Index output) {
  const bool is_half = stored.format == WeightFormat::f16 || stored.format == WeightFormat::bf16;
  double size = 0.0, rounding = 0.0;
  for (Index first = 0; first < stored.inputs; first += 32) {
    double largest = 0.0, weights = 0.0, offset = 0.0;
    const Index end = std::min(stored.inputs, first + 32);
    for (Index i = first; i < end; ++i) {
      largest = std::max(largest, std::abs(input.at(row, i)));
      weights += std::abs(stored.at(output, i));
      offset = std::max(offset, std::abs(stored.at(output, i)));
    }
    for (Index i = first; i < end; ++i) size += std::abs(input.at(row, i)) * offset * 16.0;
    const double unit =
        largest < 0x1p-100 ? 2.0 * largest : largest / (stored.format == WeightFormat::int8 ? 8191.0 : 127.0);
    rounding += 0.5 * 1.0001 * unit * weights;
  }
  if (is_half) return dot_bound(stored.inputs, size);
  return rounding + 8.0 * kUnitRoundoff * size * static_cast<double>(stored.inputs / 32 + 4) + 0x1p-120;
}

double worst_error(const Stored& stored, const OwnedRows& input, const OwnedRows& got) {
  double worst = 0.0;
  for (Index row = 0; row < input.rows.count; ++row) {
    for (Index output = 0; output < stored.outputs; ++output) {
      double sum = 0.0;
      for (Index i = 0; i < stored.inputs; ++i) sum += input.at(row, i) * stored.at(output, i);
      const double error = std::abs(got.at(row, output) - sum) / bound_of(stored, input, row, output);
      worst = std::max(worst, std::isnan(error) ? kInfinity : error);
    }
  }
  return worst;
}

bool have_same_bits(const OwnedRows& one, const OwnedRows& other, Index rows, Index other_first = 0) {
  for (Index row = 0; row < rows; ++row) {
    const auto bytes = static_cast<std::size_t>(one.rows.length) * sizeof(float);
    if (std::memcmp(one.rows.row(row), other.rows.row(other_first + row), bytes) != 0) return false;
  }
  return true;
}

TEST_CASE("products with stored weights are those of their numbers, within what rounding the input allows") {
  Random random(43);
  for (const WeightFormat format : kFormats) {
    for (const Index rows : {1, 2, 3, 4, 7, 16, 17, 97}) {
      for (const Index outputs : {1, 16, 33, 115}) {
        const Index inputs = multiple_of(format) * (rows == 7 ? 20 : 3);
        const Stored stored(random, format, outputs, inputs);
        const PackedWeights packed(stored);
        const OwnedRows input = random_rows(random, rows, inputs, 5);
        const OwnedRows got = multiply(stored, packed, input);
        const double error = worst_error(stored, input, got);
        report_ratio("narrow product", error);
        CHECK(error <= 1.0);
      }
    }
  }
}

TEST_CASE("hard inputs: zeros, tiny numbers, and one that is huge among small ones") {
  Random random(44);
  for (const WeightFormat format : kFormats) {
    const Index inputs = multiple_of(format) * 2 * (multiple_of(format) == 1 ? 32 : 1);
    const Stored stored(random, format, 20, inputs);
    const PackedWeights packed(stored);
    OwnedRows input = random_rows(random, 5, inputs);
    for (Index i = 0; i < inputs; ++i) {
      input.rows.row(0)[i] = 0.0F;
      input.rows.row(1)[i] *= 0x1p-140F;
      input.rows.row(2)[i] *= 0x1p-99F;
      input.rows.row(3)[i] = i == 5 ? 1e30F : input.rows.row(3)[i];
      input.rows.row(4)[i] = i % 2 == 0 ? -3.5F : 3.5F;
    }
    const OwnedRows got = multiply(stored, packed, input);
    CHECK(worst_error(stored, input, got) <= 1.0);
    for (Index output = 0; output < 20; ++output) CHECK(got.at(0, output) == 0.0);
  }
}

TEST_CASE("a row that is not finite becomes NaN, and no other row does") {
  Random random(45);
  for (const WeightFormat format : {WeightFormat::int8, WeightFormat::int4, WeightFormat::q4_k}) {
    const Stored stored(random, format, 20, 256);
    const PackedWeights packed(stored);
    OwnedRows input = random_rows(random, 5, 256);
    input.rows.row(1)[200] = kNan;
    input.rows.row(3)[0] = -static_cast<float>(kInfinity);
    const OwnedRows got = multiply(stored, packed, input);
    for (Index row = 0; row < 5; ++row) {
      for (Index output = 0; output < 20; ++output) CHECK(std::isnan(got.at(row, output)) == (row % 2 == 1));
    }
  }
}

TEST_CASE("f16 weights may be subnormal, infinite or NaN") {
  Random random(52);
  Stored stored(random, WeightFormat::f16, 40, 700);
  const auto put = [&](Index output, Index i, std::uint16_t bits, double number) {
    const auto at = static_cast<std::size_t>(output * stored.inputs + i);
    std::memcpy(stored.bytes.data() + 2 * at, &bits, sizeof bits);
    stored.numbers[at] = number;
  };
  for (Index i = 0; i < 700; ++i) put(2, i, static_cast<std::uint16_t>(i + 1), std::ldexp(i + 1, -24));
  put(20, 699, 0x83FF, -std::ldexp(1023, -24));
  for (const bool is_finite : {true, false}) {
    if (!is_finite) {
      put(3, 5, 0xFC00, -kInfinity);
      put(17, 650, 0x7E01, std::numeric_limits<double>::quiet_NaN());
    }
    const PackedWeights packed(stored);
    for (const Index rows : {1, 5}) {
      const OwnedRows input = random_rows(random, rows, 700);
      const OwnedRows got = multiply(stored, packed, input);
      for (Index row = 0; row < rows; ++row) {
        for (Index output = 0; output < 40; ++output) {
          double sum = 0.0, size = 0.0;
          for (Index i = 0; i < 700; ++i) {
            sum += input.at(row, i) * stored.at(output, i);
            size += std::abs(input.at(row, i) * stored.at(output, i));
          }
          const double own = got.at(row, output);
          const bool is_same = std::isnan(sum) ? std::isnan(own) : own == sum;
          CHECK((is_same || std::abs(own - sum) <= dot_bound(700, size)));
        }
      }
    }
  }
}

TEST_CASE("f32 numbers are packed as the stored ones that they are rounded to") {
  Random random(53);
  for (const WeightFormat format : {WeightFormat::f16, WeightFormat::bf16, WeightFormat::int8, WeightFormat::int4}) {
    const Index inputs = 64;
    const Stored stored(random, format, 16, inputs);
    // Numbers of a format are rounded to themselves, but a group whose largest is less than the largest integer.
    std::vector<float> numbers(stored.numbers.begin(), stored.numbers.end());
    const auto size = static_cast<std::size_t>(kernels::panel_bytes(format, inputs));
    std::vector<std::uint64_t> panel(size / 8);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(panel.data());
    const kernels::PackPanelTask task{format, reinterpret_cast<const std::uint8_t*>(numbers.data()), inputs, 16, bytes,
                                      true};
    CHECK(kernels::pack_panel(task));
    const double steps = format == WeightFormat::int8 ? 254.0 : 8.0;
    for (std::ptrdiff_t output = 0; output < 16; ++output) {
      float widened[64];
      kernels::widen_weights({format, bytes, inputs, output, 0, 64}, widened);
      for (Index i = 0; i < inputs; ++i) {
        double largest = 0.0;
        for (Index k = i / 32 * 32; k < i / 32 * 32 + 32; ++k)
          largest = std::max(largest, std::abs(stored.at(output, k)));
        const bool is_half = multiple_of(format) == 1;
        // A scale of f16 is off by a 2048th.
        const double bound = is_half ? 0.0 : largest * (1.0 / steps + 1.0 / 2048.0);
        CHECK(std::abs(static_cast<double>(widened[i]) - stored.at(output, i)) <= bound);
      }
    }
    for (const float wrong : {-static_cast<float>(kInfinity), kNan, 3.4e38F}) {
      numbers[70] = wrong;
      const bool is_half = multiple_of(format) == 1;
      CHECK(kernels::pack_panel(task) == (is_half && !(std::abs(wrong) <= 3.4e38F)));
    }
  }
}

TEST_CASE("the same bits come out for a row alone or among others, whatever the pieces that were packed") {
  Random random(46);
  for (const WeightFormat format : kFormats) {
    const Index inputs = multiple_of(format) * (multiple_of(format) == 1 ? 700 : 18);
    const Stored stored(random, format, 200, inputs);
    const PackedWeights packed(stored), pieces(stored, 48);
    const OwnedRows input = random_rows(random, 103, inputs);
    const OwnedRows all = multiply(stored, packed, input);
    CHECK(have_same_bits(all, multiply(stored, pieces, input), 103));
    for (const Index count : {1, 2, 4, 5, 16, 30}) {
      OwnedRows some(count, inputs, 0.0F);
      for (Index row = 0; row < count; ++row) std::copy_n(input.rows.row(7 + row), inputs, some.rows.row(row));
      CHECK(have_same_bits(multiply(stored, packed, some), all, count, 7));
    }
  }
}

TEST_CASE("bias, activation, factor and addend follow a product with stored weights") {
  Random random(47);
  const Stored stored(random, WeightFormat::int8, 40, 64);
  const PackedWeights packed(stored);
  const OwnedRows input = random_rows(random, 6, 64), factor = random_rows(random, 6, 40),
                  addend = random_rows(random, 3, 40);
  const std::vector<float> bias = random_numbers(random, 40);
  const OwnedRows plain = multiply(stored, packed, input);
  const OwnedRows got =
      multiply(stored, packed, input, {Activation::relu, bias.data(), factor.reading(), addend.reading()});
  for (Index row = 0; row < 6; ++row) {
    for (Index output = 0; output < 40; ++output) {
      const double sum = plain.at(row, output) + static_cast<double>(bias[static_cast<std::size_t>(output)]);
      const double wanted = std::max(0.0, sum) * factor.at(row, output) + addend.at(row % 3, output);
      CHECK(std::abs(got.at(row, output) - wanted) <= 8.0 * kUnitRoundoff * (std::abs(wanted) + std::abs(sum) + 8.0));
    }
  }
}

TEST_CASE("rows of a packed table are its numbers, exactly as they are rounded to f32") {
  Random random(48);
  for (const WeightFormat format : kFormats) {
    const Index inputs = multiple_of(format) * (multiple_of(format) == 1 ? 45 : 2);
    const Stored stored(random, format, 37, inputs);
    const PackedWeights packed(stored);
    const std::int32_t indices[] = {36, 0, 15, 16, 16, 31};
    OwnedRows output(6, inputs, kUntouched, 2);
    compute(NarrowGatherCall{format, packed.data(), 37, indices, output.rows}, calling_thread());
    for (Index row = 0; row < 6; ++row) {
      for (Index i = 0; i < inputs; ++i) {
        CHECK(output.rows.row(row)[i] == static_cast<float>(stored.at(indices[row], i)));
      }
    }
    const std::int32_t wrong[] = {1, 37};
    OwnedRows none(2, inputs, kUntouched);
    const Status status = run(NarrowGatherCall{format, packed.data(), 37, wrong, none.rows}, calling_thread());
    CHECK(status.code() == StatusCode::option);
    CHECK(none.at(0, 0) == static_cast<double>(kUntouched));
  }
}

TEST_CASE("the gradient of the input is that of the stored numbers") {
  Random random(49);
  for (const WeightFormat format : kFormats) {
    for (const Index rows : {1, 5, 100}) {
      const Index inputs = multiple_of(format) * (multiple_of(format) == 1 ? 45 : multiple_of(format) == 32 ? 7 : 1);
      const Stored stored(random, format, 150, inputs);
      const PackedWeights packed(stored);
      const OwnedRows left = random_rows(random, rows, 150, 4), addend = random_rows(random, rows, inputs);
      for (const bool is_added : {false, true}) {
        OwnedRows output(rows, inputs, kUntouched, 1);
        compute(NarrowProductCall{format, left.reading(), packed.data(),
                                  is_added ? addend.reading() : Rows<const float>{}, output.rows},
                calling_thread());
        double worst = 0.0;
        for (Index row = 0; row < rows; ++row) {
          for (Index i = 0; i < inputs; ++i) {
            double sum = is_added ? addend.at(row, i) : 0.0, size = std::abs(sum);
            for (Index o = 0; o < 150; ++o) {
              sum += left.at(row, o) * stored.at(o, i);
              size += std::abs(left.at(row, o) * stored.at(o, i));
            }
            // A weight of 4 bits with a minimum is rounded to f32 once.
            worst = std::max(worst, std::abs(output.at(row, i) - sum) / (dot_bound(151, size) + kUnitRoundoff * size));
          }
        }
        CHECK(worst <= 1.0);
      }
    }
  }
}

TEST_CASE("a recurrence with stored weights is one of linear layers with them, step by step") {
  Random random(50);
  for (const WeightFormat format : kFormats) {
    const Index hidden = format == WeightFormat::q4_k ? 256 : 96, batch = 3, steps = 4;
    const Stored r(random, format, hidden, hidden), z(random, format, hidden, hidden),
        n(random, format, hidden, hidden);
    const PackedWeights packed({&r, &z, &n});
    const PackedWeights alone[] = {PackedWeights(r), PackedWeights(z), PackedWeights(n)};
    const Stored* const matrices[] = {&r, &z, &n};
    const OwnedRows gates = random_rows(random, batch * steps, 3 * hidden);
    const std::vector<float> bias = random_numbers(random, 3 * hidden);
    OwnedRows states(batch * steps, hidden, kUntouched), last(batch, hidden, kUntouched);
    const GruInputs inputs{gates.reading(), packed.data(), bias.data(), {}};
    compute(NarrowGruCall{format, inputs, {.batch = batch}, states.rows, last.rows}, calling_thread());

    OwnedRows state(batch, hidden, 0.0F);
    double worst = 0.0;
    for (Index step = 0; step < steps; ++step) {
      std::vector<OwnedRows> products;
      for (int gate = 0; gate < 3; ++gate) products.push_back(multiply(*matrices[gate], alone[gate], state));
      for (Index entry = 0; entry < batch; ++entry) {
        for (Index i = 0; i < hidden; ++i) {
          const auto input = [&](Index gate) { return gates.at(entry * steps + step, gate * hidden + i); };
          const auto product = [&](Index gate) {
            return products[static_cast<std::size_t>(gate)].at(entry, i) +
                   static_cast<double>(bias[static_cast<std::size_t>(gate * hidden + i)]);
          };
          const double reset = 1.0 / (1.0 + std::exp(-input(0) - product(0)));
          const double update = 1.0 / (1.0 + std::exp(-input(1) - product(1)));
          const double fresh = std::tanh(input(2) + reset * product(2));
          const double wanted = (1.0 - update) * fresh + update * state.at(entry, i);
          const double got = states.at(entry * steps + step, i);
          const double size = 1.0 + std::abs(product(0)) + std::abs(product(1)) + std::abs(product(2));
          worst = std::max(worst, std::abs(got - wanted) / (1e-5 * size));
        }
      }
      // From the states that were computed, because a rounding of the input of a step is no error of the next.
      for (Index entry = 0; entry < batch; ++entry) {
        std::copy_n(states.rows.row(entry * steps + step), hidden, state.rows.row(entry));
      }
    }
    CHECK(worst <= 1.0);
    CHECK(have_same_bits(last, state, batch));
  }
}

TEST_CASE("what stored weights cannot be is refused, and nothing is written") {
  Random random(51);
  const Stored stored(random, WeightFormat::int8, 16, 64);
  const PackedWeights packed(stored);
  const OwnedRows input = random_rows(random, 2, 64), odd = random_rows(random, 2, 40);
  OwnedRows output(2, 16, kUntouched);
  const auto refused = [&](WeightFormat format, const OwnedRows& rows, const float* weights) {
    const Status status = run(NarrowAffineCall{format, rows.reading(), weights, {}, output.rows}, calling_thread());
    CHECK(output.at(0, 0) == static_cast<double>(kUntouched));
    return status.code();
  };
  CHECK(refused(WeightFormat::int8, odd, packed.data()) == StatusCode::shape);
  CHECK(refused(WeightFormat::q4_k, input, packed.data()) == StatusCode::shape);
  CHECK(refused(WeightFormat::int8, input, nullptr) == StatusCode::shape);
  CHECK(refused(static_cast<WeightFormat>(6), input, packed.data()) == StatusCode::option);
}

}  // namespace
}  // namespace heed::testing
