// The functions of layers keep the errors that they state, and have the limits that they should.
#include "kernels/layers/activations.hpp"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "reference/layers.hpp"
#include "report.hpp"
#include "support.hpp"

namespace heed::testing {
namespace {

/// One of the functions by its name in the API, and the relative error that its header states.
struct Case {
  const char* name;
  Activation activation;
  float (*function)(float);
  double (*stated)(double);
};

template <class Function>
float call(float x) {
  const Function function;
  return function(kernels::Batch(x)).get(0);
}

double below_zero(double x) { return std::max(-x, 0.0); }

std::vector<Case> cases() {
  const auto of_tanh = [](double x) {
    return 5e-7 + 5e-7 * below_zero(std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x));
  };
  return {
      {"sigmoid", Activation::sigmoid, &call<kernels::Logistic>,
       [](double x) { return 4e-7 + 1.2e-7 * below_zero(x); }},
      {"silu", Activation::silu, &call<kernels::Silu>, [](double x) { return 5e-7 + 1.2e-7 * below_zero(x); }},
      {"gelu", Activation::gelu, &call<kernels::Gelu>,
       [](double x) { return 8e-7 + 8e-8 * below_zero(x) * below_zero(x); }},
      {"gelu tanh", Activation::gelu_tanh, &call<kernels::GeluTanh>, of_tanh},
      {"relu", Activation::relu, &call<kernels::Relu>, [](double) { return 0.0; }},
  };
}

}  // namespace

TEST_CASE("activations keep the relative errors that they state") {
  for (const Case& one : cases()) {
    double worst = 0.0;
    double where = 0.0;
    const auto look_at = [&](double at) {
      const float x = static_cast<float>(at);
      const double exact = reference::activate(one.activation, static_cast<double>(x));
      const double error = std::abs(static_cast<double>(one.function(x)) - exact);
      const double ratio = error / (one.stated(static_cast<double>(x)) * std::abs(exact) + 1e-34);
      if (!(ratio <= worst)) {
        worst = ratio;
        where = at;
      }
    };
    for (double x = -30.0; x <= 30.0; x += 0.000317) look_at(x);
    for (double x = 1e-30; x < 1e30; x *= 1.37) {
      look_at(x);
      look_at(-x);
    }
    INFO(one.name << ", worst at " << where);
    report_ratio(one.name, worst);
    CHECK(worst <= 1.0);
  }
}

TEST_CASE("activations of infinities are their limits, of NaN NaN, of zero what they should be") {
  for (const Case& one : cases()) {
    INFO(one.name);
    CHECK(one.function(kInfinity) == (one.activation == Activation::sigmoid ? 1.0F : kInfinity));
    CHECK(std::abs(one.function(-kInfinity)) <= 1e-34F);
    CHECK(std::isnan(one.function(kNan)));
    CHECK(one.function(0.0F) == (one.activation == Activation::sigmoid ? 0.5F : 0.0F));
  }
}

}  // namespace heed::testing
