// Prints the layouts of AttentionCall, Mailbox and int8 tiles, the enumerators of a call, and the room in a pool as a
// TypeScript module: run by the build, so that the two sides cannot drift apart.
#include "bindings/attention_call.hpp"
#include "bindings/print_layout.hpp"
#include "heed/i8_tile.hpp"
#include "schedule/worker_pool.hpp"

using heed::bindings::AttentionCall;
using heed::bindings::Field;
using heed::bindings::Named;

namespace {

constexpr Field kFields[] = {
    {"stop", offsetof(AttentionCall, header.stop)},
    {"query", offsetof(AttentionCall, query)},
    {"key", offsetof(AttentionCall, key)},
    {"value", offsetof(AttentionCall, value)},
    {"mask", offsetof(AttentionCall, mask)},
    {"bias", offsetof(AttentionCall, bias)},
    {"keep", offsetof(AttentionCall, keep)},
    {"output", offsetof(AttentionCall, output)},
    {"weights", offsetof(AttentionCall, weights)},
    {"lse", offsetof(AttentionCall, lse)},
    {"scores", offsetof(AttentionCall, scores)},
    {"entropy", offsetof(AttentionCall, entropy)},
    {"meanWeights", offsetof(AttentionCall, mean_weights)},
    {"scoreW", offsetof(AttentionCall, score_w)},
    {"scoreWq", offsetof(AttentionCall, score_wq)},
    {"scoreWk", offsetof(AttentionCall, score_wk)},
    {"scoreB", offsetof(AttentionCall, score_b)},
    {"scoreV", offsetof(AttentionCall, score_v)},
    {"scoreBandwidth", offsetof(AttentionCall, score_bandwidth)},
    {"pages", offsetof(AttentionCall, pages)},
    {"pagesPerBatch", offsetof(AttentionCall, pages_per_batch)},
    {"pageRows", offsetof(AttentionCall, page_size)},
    {"firstRow", offsetof(AttentionCall, first_row)},
    {"keyScales", offsetof(AttentionCall, key_scales)},
    {"valueScales", offsetof(AttentionCall, value_scales)},
    {"pagesFinite", offsetof(AttentionCall, pages_finite)},
    {"queryLengths", offsetof(AttentionCall, query_lengths)},
    {"keyLengths", offsetof(AttentionCall, key_lengths)},
    {"queryOffsets", offsetof(AttentionCall, query_offsets)},
    {"queryStarts", offsetof(AttentionCall, query_starts)},
    {"keyStarts", offsetof(AttentionCall, key_starts)},
    {"alibiSlopes", offsetof(AttentionCall, alibi_slopes)},
    {"sinks", offsetof(AttentionCall, sinks)},
    {"expressions", offsetof(AttentionCall, expressions)},
    {"expressionWords", offsetof(AttentionCall, expression_words)},
    {"expressionTables", offsetof(AttentionCall, expression_tables)},
    {"expressionNumbers", offsetof(AttentionCall, expression_numbers)},
    {"scale", offsetof(AttentionCall, scale)},
    {"softcap", offsetof(AttentionCall, softcap)},
    {"dropoutP", offsetof(AttentionCall, dropout_p)},
    {"dropoutSeed", offsetof(AttentionCall, dropout_seed)},
    {"score", offsetof(AttentionCall, score)},
    {"normalizer", offsetof(AttentionCall, normalizer)},
    {"topK", offsetof(AttentionCall, top_k)},
    {"causal", offsetof(AttentionCall, causal)},
    {"windowLeft", offsetof(AttentionCall, window_left)},
    {"windowRight", offsetof(AttentionCall, window_right)},
    {"blockQueries", offsetof(AttentionCall, block_queries)},
    {"blockKeys", offsetof(AttentionCall, block_keys)},
    {"scoreStage", offsetof(AttentionCall, score_stage)},
    {"queryType", offsetof(AttentionCall, query_type)},
    {"keyType", offsetof(AttentionCall, key_type)},
    {"valueType", offsetof(AttentionCall, value_type)},
    {"sequences", offsetof(AttentionCall, sequences)},
    {"weightRowsBegin", offsetof(AttentionCall, weight_rows_begin)},
    {"weightRowsEnd", offsetof(AttentionCall, weight_rows_end)},
    {"sliceOf", offsetof(AttentionCall, slice_of)},
};

constexpr Field kMailboxFields[] = {
    {"state", offsetof(heed::Mailbox, state)},
    {"status", offsetof(heed::Mailbox, status)},
    {"message", offsetof(heed::Mailbox, message)},
};

constexpr Named kDTypes[] = {
    {"f32", heed::DType::f32},
    {"f16", heed::DType::f16},
    {"i8", heed::DType::i8_keys},
    {"bool", heed::DType::f32},  // masks have one type, so theirs is never read
};

constexpr Named kCausal[] = {
    {"none", heed::Causal::none},
    {"lower-right", heed::Causal::lower_right},
    {"upper-left", heed::Causal::upper_left},
};

constexpr Named kScores[] = {
    {"scaled-dot", heed::ScoreKind::scaled_dot},
    {"dot", heed::ScoreKind::dot},
    {"cosine", heed::ScoreKind::cosine},
    {"general", heed::ScoreKind::general},
    {"additive", heed::ScoreKind::additive},
    {"gated", heed::ScoreKind::gated},
    {"rbf", heed::ScoreKind::rbf},
    {"distance", heed::ScoreKind::distance},
};

constexpr Named kNormalizers[] = {
    {"softmax", heed::Normalizer::softmax}, {"sparsemax", heed::Normalizer::sparsemax},
    {"sigmoid", heed::Normalizer::sigmoid}, {"hard", heed::Normalizer::hard},
    {"none", heed::Normalizer::none},
};

constexpr Named kStages[] = {
    {"raw", heed::ScoreStage::raw},
    {"capped", heed::ScoreStage::capped},
    {"masked", heed::ScoreStage::masked},
};

void print_steps(const char* name, const heed::I8Steps& steps) {
  std::printf("%s: [%d, %d, %d]", name, steps.group, steps.near, steps.far);
}

void print_tile(const char* name, const heed::I8Tile& tile) {
  std::printf("  %s: { rows: %d, ", name, tile.rows);
  print_steps("row", tile.row);
  print_steps(", number", tile.number);
  std::puts(" },");
}

}  // namespace

int main() {
  using heed::bindings::print_layout;
  using heed::bindings::print_numbers;
  std::puts("// Made by the build from C++: word offsets and numbers.");
  print_layout("ATTENTION_CALL", sizeof(AttentionCall), kFields);
  std::printf("export const MAX_WORKERS = %d;\n", heed::TaskBoard::kMaxWorkers);
  print_layout("MAILBOX", sizeof(heed::Mailbox), kMailboxFields);
  print_numbers("DTYPE", kDTypes);
  print_numbers("CAUSAL", kCausal);
  print_numbers("SCORE", kScores);
  print_numbers("NORMALIZER", kNormalizers);
  print_numbers("STAGE", kStages);
  std::puts("export const I8_TILES = {");
  print_tile("key", heed::kI8KeyTile);
  print_tile("value", heed::kI8ValueTile);
  std::puts("} as const;");
  return 0;
}
