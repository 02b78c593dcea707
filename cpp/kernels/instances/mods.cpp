// What expressions do to scores.
#include "kernels/arch.hpp"
#include "kernels/mods_of.hpp"

namespace heed::kernels {

// Compiled for speed elsewhere.
extern template void cap_scores<BuiltArch>(float softcap, int count, float* scores);
extern template void weigh_by_rules<BuiltArch>(const Panel& panel, Normalizer normalizer, float share, int lines,
                                               float* scores);
extern template void weigh_lines<BuiltArch>(Normalizer normalizer, const Exp2Constants& constants,
                                            const RuleLines& rules, int lines, float* scores);

template bool modify_scores<BuiltArch>(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys);
template MaskedKeys look_at_mask_mod<BuiltArch>(const Panel& panel, const AttentionBlock& block, KeyBlock& keys);
template void modify_weights<BuiltArch>(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys);
template void apply_mask_mod<BuiltArch>(const Panel& panel, const AttentionBlock& block, const KeyBlock& keys);

}  // namespace heed::kernels
