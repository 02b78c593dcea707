#include "problem/attention_checks.hpp"

#include <cmath>
#include <numbers>

#include "problem/failures.hpp"

namespace heed {
namespace {

// The limit of options that are multiplied with scores or distances: beyond any use, and far from overflowing.
constexpr float kLargest = 1e30F;

/// Checks one length a batch entry, each in [0, limit].
Status check_lengths(const char* name, const std::int32_t* lengths, Index batch, Index limit) {
  if (lengths == nullptr) return {};
  for (Index b = 0; b < batch; ++b) {
    if (lengths[b] >= 0 && lengths[b] <= limit) continue;
    return broken(StatusCode::option,
                  {name, " must be between 0 and ", limit, ", got ", lengths[b], " for batch entry ", b});
  }
  return {};
}

/// Checks one number a head, each of which `is_good`.
Status check_per_head(const char* rule, const float* numbers, Index heads, bool (*is_good)(float)) {
  if (numbers == nullptr) return {};
  for (Index h = 0; h < heads; ++h) {
    if (!is_good(numbers[h])) {
      return broken(StatusCode::option, {rule, ", number ", h, " is not"});
    }
  }
  return {};
}

bool is_softcap(float number) { return number >= 1.0F / kLargest && number <= kLargest; }

bool is_slope(float number) { return std::abs(number) <= kLargest; }

bool is_probability(float number) { return number >= 0.0F && number <= 1.0F; }

/// A sink of -infinity is none.
bool is_sink(float number) { return number <= kLargest; }

/// Checks `count` sequences that follow each other from 0 to `total`.
Status check_starts(const char* name, const std::int32_t* starts, Index count, Index total) {
  if (starts[0] != 0) {
    return broken(StatusCode::option, {name, " must start at 0, got ", starts[0]});
  }
  for (Index n = 0; n < count; ++n) {
    if (starts[n + 1] >= starts[n]) continue;
    return broken(StatusCode::option, {name, " must not decrease, got ", starts[n], " and then ", starts[n + 1]});
  }
  if (starts[count] != total) {
    return broken(StatusCode::option, {name, " must end at ", total, ", the whole length, got ", starts[count]});
  }
  return {};
}

Status check_sequences(const AttentionOptions& options, Index batch, Index queries, Index keys) {
  const PackedSequences& sequences = options.sequences;
  if (!sequences.are_given()) {
    if (sequences.key_starts == nullptr) return {};
    return broken(StatusCode::option, {"cuSeqlensK needs cuSeqlensQ"});
  }
  if (batch != 1) {
    return broken(StatusCode::option, {"cuSeqlensQ needs a batch of one, got ", batch});
  }
  if (options.query_lengths != nullptr || options.key_lengths != nullptr) {
    return broken(StatusCode::option, {"cuSeqlensQ and qLengths or kvLengths exclude each other"});
  }
  if (sequences.count < 0) {
    return broken(StatusCode::option, {"cuSeqlensQ must hold at least one number"});
  }
  const char* const whose =
      sequences.key_starts == nullptr ? "cuSeqlensQ, which says the keys' sequences too," : "cuSeqlensK";
  return first_failure({check_starts("cuSeqlensQ", sequences.query_starts, sequences.count, queries),
                        check_starts(whose, sequences.keys(), sequences.count, keys)});
}

}  // namespace

Status check_options(const AttentionOptions& options, const SliceOf& whole, Index key_length) {
  if (options.scale && !std::isfinite(*options.scale)) {
    return broken(StatusCode::option, {"scale must be a finite number"});
  }
  // Kernels take exponentials in base 2.
  if (options.scale && !std::isfinite(*options.scale * std::numbers::log2e_v<float>)) {
    return broken(StatusCode::option, {"scale * log2(e) must be finite in single precision"});
  }
  if (options.softcap != 0.0F && !is_softcap(options.softcap)) {
    return broken(StatusCode::option, {"softcap must be between 1e-30 and 1e30"});
  }
  if (!is_known(options.causal)) {
    return broken(StatusCode::option, {"causal must be none, lower_right or upper_left"});
  }
  if (options.window.left < kOpen || options.window.right < kOpen) {
    return broken(StatusCode::option, {"window must be open or 0 and more on either side"});
  }
  if (!is_probability(options.dropout.p)) {
    return broken(StatusCode::option, {"dropout.p must be between 0 and 1"});
  }
  return first_failure(
      {check_lengths("qLengths", options.query_lengths, whole.batch, whole.query_length),
       check_lengths("kvLengths", options.key_lengths, whole.batch, key_length),
       check_sequences(options, whole.batch, whole.query_length, key_length),
       check_per_head("alibiSlopes must be between -1e30 and 1e30", options.alibi_slopes, whole.query_heads, is_slope),
       check_per_head("sinks must be at most 1e30", options.sinks, whole.query_heads, is_sink)});
}

Status check_normalizer(const AttentionOptions& options, const AttentionOutputs& outputs) {
  const Normalizer normalizer = options.normalizer;
  if (!is_known(normalizer)) {
    return broken(StatusCode::option, {"normalize must be one of the kinds that there are"});
  }
  if (options.top_k < 0) {
    return broken(StatusCode::option, {"topK must be a whole number, 1 or more, got ", options.top_k});
  }
  if (normalizer == Normalizer::softmax) return {};
  if (options.sinks != nullptr) {
    return broken(StatusCode::option, {"sinks join a sum that only normalize softmax divides by"});
  }
  if (outputs.log_sum_exp.is_present()) {
    return broken(StatusCode::option, {"lse is that of a softmax, and normalize is another"});
  }
  const bool is_distribution = normalizer == Normalizer::sparsemax || normalizer == Normalizer::hard;
  if (outputs.entropy.is_present() && !is_distribution) {
    return broken(StatusCode::option,
                  {"entropy is that of weights which add up to 1, and those of normalize sigmoid and none do not"});
  }
  return {};
}

}  // namespace heed
