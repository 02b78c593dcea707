// The table of the formats of whole numbers. A new one is a file in formats/ and a line here.
#pragma once

#include "kernels/narrow/formats/int4.hpp"
#include "kernels/narrow/formats/int4_min.hpp"
#include "kernels/narrow/formats/int8.hpp"
#include "kernels/narrow/formats/q4_k.hpp"

namespace heed::kernels {

/// Calls visit.template operator()<Format>().
template <class Visit>
[[gnu::always_inline]] inline auto with_format(WeightFormat format, Visit visit) {
  switch (format) {
    case WeightFormat::int4:
      return visit.template operator()<Int4Format>();
    case WeightFormat::int4_min:
      return visit.template operator()<Int4MinFormat>();
    case WeightFormat::q4_k:
      return visit.template operator()<Q4KFormat>();
    default:
      return visit.template operator()<Int8Format>();
  }
}

}  // namespace heed::kernels
