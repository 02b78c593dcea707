// Prints the layouts of AttentionCall and Door as a TypeScript module, in words, and the room in a pool: run by the
// build, so that the two sides cannot drift apart.
#include "bindings/attention_call.hpp"
#include "bindings/print_layout.hpp"
#include "schedule/worker_pool.hpp"

using heed::bindings::AttentionCall;
using heed::bindings::Field;

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

constexpr Field kDoor[] = {
    {"state", offsetof(heed::Mailbox, state)},
    {"status", offsetof(heed::Mailbox, status)},
    {"message", offsetof(heed::Mailbox, message)},
};

}  // namespace

int main() {
  std::puts("// Made by the build from C++: word offsets.");
  heed::bindings::print_layout("ATTENTION_CALL", sizeof(AttentionCall), kFields);
  std::puts("");
  std::printf("export const MAX_WORKERS = %d;\n", heed::TaskBoard::kMaxWorkers);
  heed::bindings::print_layout("DOOR", sizeof(heed::Mailbox), kDoor);
  return 0;
}
