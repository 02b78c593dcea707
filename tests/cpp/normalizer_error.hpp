// How far weights may be from the exact ones where they do not wait for a sum: see error_model.hpp for the notation.
// With e_j the error of score j, of a row's weights w_j
//   sigmoid    w_j (e_j (1 - w_j) + kSigmoidError), and 2^-80 where it should be less
//   none       e_j + 2u |w_j|
//   sparsemax  e_j + max e + u (kGrowth + 6): t, which moves with the scores, is no further off than the worst of them
//   (adding
//              the same to all scores moves it by as much, and raising one never lowers it), and comes from a sum of
//              numbers that add up to 1; of all keys that may be above t
// outputs are off by sum (error of w_j) |v_j|, the roundings of the sum and 2u; entropies by what w ln w changes
// between the least and the most that w may be, and 4u of it.
#pragma once

#include <span>
#include <vector>

#include "error_model.hpp"

namespace heed::testing {

/// Fills bounds.output, weights and entropy. `best` are the scores that are kept, `errors` those of all.
void bound_each(Normalizer normalizer, const ExactRow& exact, const std::vector<double>& best,
                const std::vector<double>& errors, RowBounds& bounds);

}  // namespace heed::testing
