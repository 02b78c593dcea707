#include "problem/attention_checks.hpp"

#include <array>
#include <string_view>

#include "problem/failures.hpp"

namespace heed {
namespace {

constexpr std::array kNames = {"scaled-dot", "dot", "cosine", "general", "additive", "gated", "rbf", "distance"};

struct Parameter {
  const char* name;
  TensorView<const float> ScoreFunction::* view;
};

constexpr std::array<Parameter, 6> kParameters = {{{"w", &ScoreFunction::w},
                                                   {"wq", &ScoreFunction::wq},
                                                   {"wk", &ScoreFunction::wk},
                                                   {"b", &ScoreFunction::b},
                                                   {"v", &ScoreFunction::v},
                                                   {"bandwidth", &ScoreFunction::bandwidth}}};

bool takes(ScoreKind kind, std::string_view parameter) {
  switch (kind) {
    case ScoreKind::general:
      return parameter == "w";
    case ScoreKind::additive:
      return parameter == "wq" || parameter == "wk" || parameter == "b" || parameter == "v";
    case ScoreKind::gated:
      return parameter == "w" || parameter == "b";
    case ScoreKind::rbf:
      return parameter == "bandwidth";
    default:
      return false;
  }
}

bool needs(ScoreKind kind, std::string_view parameter) {
  return kind != ScoreKind::additive && parameter != "b" && takes(kind, parameter);
}

const char* name_of(ScoreKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

Status check_given(const ScoreFunction& score) {
  for (const Parameter& parameter : kParameters) {
    const bool is_given = (score.*parameter.view).is_present();
    if (is_given && !takes(score.kind, parameter.name)) {
      return broken(StatusCode::option, {"score ", name_of(score.kind), " takes no ", parameter.name});
    }
    if (!is_given && needs(score.kind, parameter.name)) {
      return broken(StatusCode::option, {"score ", name_of(score.kind), " needs ", parameter.name});
    }
  }
  return {};
}

/// Checks a parameter that all of `heads` share, or that each has of its own.
Status check_shape(const char* name, const TensorView<const float>& view, Index heads, Index rows, Index columns) {
  if (!view.is_present()) return {};
  const Shape& shape = view.shape;
  const Shape shared{1, 1, rows, columns};
  const Shape own{1, heads, rows, columns};
  if (shape != shared && shape != own) {
    return broken(StatusCode::shape, {"score.", name, " must be ", shared, " or ", own, ", got ", shape});
  }
  if (columns <= 1 || view.strides[3] == 1) return {};
  return broken(StatusCode::shape, {"score.", name, " must be contiguous along its last axis"});
}

Status check_additive(const ScoreFunction& score, const AttentionInputs& in, Index heads) {
  const Index of_query = score.wq.is_present() ? score.wq.shape[2] : in.query.shape[3];
  const Index of_key = score.wk.is_present() ? score.wk.shape[2] : in.key.shape[3];
  if (of_query != of_key || of_query < 1) {
    return broken(StatusCode::shape,
                  {"score.wq and score.wk must give queries and keys as many numbers, at least 1, got ", of_query,
                   " and ", of_key});
  }
  return first_failure({check_shape("wq", score.wq, heads, of_query, in.query.shape[3]),
                        check_shape("wk", score.wk, heads, of_query, in.key.shape[3]),
                        check_shape("b", score.b, heads, 1, of_query), check_shape("v", score.v, heads, 1, of_query)});
}

bool is_bandwidth(float number) { return number >= 1e-15F && number <= 1e15F; }

Status check_bandwidths(const TensorView<const float>& bandwidth, Index heads) {
  if (Status status = check_shape("bandwidth", bandwidth, heads, 1, 1); !status.is_ok()) return status;
  for (Index h = 0; h < bandwidth.shape[1]; ++h) {
    if (is_bandwidth(*bandwidth.at(0, h, 0))) continue;
    return broken(StatusCode::option, {"score.bandwidth must be between 1e-15 and 1e15"});
  }
  return {};
}

}  // namespace

bool has_matrices(const ScoreFunction& score) {
  return score.kind == ScoreKind::general || score.kind == ScoreKind::additive;
}

Status check_score(const ScoreFunction& score, const AttentionInputs& inputs, Index heads) {
  if (!is_known(score.kind)) {
    return broken(StatusCode::option, {"score must be one of the kinds that there are"});
  }
  if (Status status = check_given(score); !status.is_ok()) return status;
  const Index of_query = inputs.query.shape[3];
  const Index of_key = inputs.key.shape[3];
  switch (score.kind) {
    case ScoreKind::general:
      return check_shape("w", score.w, heads, of_query, of_key);
    case ScoreKind::additive:
      return check_additive(score, inputs, heads);
    case ScoreKind::gated:
      return first_failure(
          {check_shape("w", score.w, heads, 1, of_query + of_key), check_shape("b", score.b, heads, 1, 1)});
    case ScoreKind::rbf:
      return check_bandwidths(score.bandwidth, heads);
    default:
      return {};
  }
}

}  // namespace heed
