// Expressions in double precision: a program's instructions one after the other, for one query and one key.
#pragma once

#include "heed/expressions.hpp"

namespace heed::reference {

struct Place {
  double score;
  Index b, h, i, j;
};

/// The number, of those of all tables, that is read at indices.
Index number_in_table(const Expressions& expressions, std::int32_t table, const double (&indices)[4]);

/// The result of an instruction, given its operands.
double run_instruction(const Expressions& expressions, const std::int32_t* words, const double (&operands)[4],
                       const Place& place);

/// The result of the program that starts at a word.
double run_program(const Expressions& expressions, std::int32_t start, const Place& place);

double score_mod(const Expressions& expressions, const Place& place);

/// True where there is no mask.
bool mask_mod(const Expressions& expressions, const Place& place);

/// The score of the place is a weight here.
double weight_mod(const Expressions& expressions, const Place& place);

}  // namespace heed::reference
