// WebAssembly builds take this in place of check_expressions.cpp, since heed/expr alone makes their programs. It saves
// 500 bytes of download.
#include "problem/check_expressions.hpp"

namespace heed {

Status check_expressions(const Expressions& /*expressions*/) { return {}; }

Status check_slopes(const Expressions& /*expressions*/, const ExpressionSlopes& /*slopes*/, Index /*table_numbers*/) {
  return {};
}

}  // namespace heed
