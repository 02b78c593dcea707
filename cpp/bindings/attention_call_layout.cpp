// Prints the layouts of AttentionCall and Mailbox, where groups of options start in a call, its enumerators, and the
// room in a pool.
#include <cstddef>

#include "bindings/print_layout.hpp"
#include "operations/attention/attention_call.hpp"
#include "schedule/worker_pool.hpp"

namespace {

using namespace heed::bindings;  // NOLINT(google-build-using-namespace): a program of tables

constexpr Named kMailbox[] = {
    {"words", sizeof(heed::Mailbox) / kWord},
    {"state", offsetof(heed::Mailbox, state) / kWord},
    {"status", offsetof(heed::Mailbox, status) / kWord},
    {"message", offsetof(heed::Mailbox, message) / kWord},
};

constexpr Named kDTypes[] = {
    {"f32", heed::DType::f32},
    {"f16", heed::DType::f16},
    {"i8", heed::DType::i8_keys},
    {"bool", heed::DType::f32},  // masks have one type, so theirs is never read
};

}  // namespace

int main() {
  std::puts("// Made by the build from C++: word offsets and numbers.");
  std::set<std::string_view> printed;
  print_call<heed::AttentionCall>(printed);
  print_constant("SCORE_OPTIONS", offsetof(heed::AttentionCall, score_options) / kWord);
  print_constant("WEIGHT_OPTIONS", offsetof(heed::AttentionCall, weight_options) / kWord);
  print_constant("MASK_OPTIONS", offsetof(heed::AttentionCall, mask_options) / kWord);
  print_constant("MAX_WORKERS", heed::WorkQueue::kMaxWorkers);
  print_numbers("MAILBOX", kMailbox);
  print_numbers("DTYPE", kDTypes);
  return 0;
}
