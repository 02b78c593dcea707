// The operations of the narrow module beside those of the training one, likewise. Their numbers come after those.
#pragma once

#include <tuple>

#include "operations/narrow/narrow_affine.hpp"
#include "operations/narrow/narrow_gather.hpp"
#include "operations/narrow/narrow_gru.hpp"
#include "operations/narrow/narrow_product.hpp"
#include "operations/narrow/pack_narrow.hpp"

namespace heed {

/// Layers whose weights are stored in 16, 8 or 4 bits.
using NarrowOperations =
    std::tuple<PackNarrowCall, NarrowAffineCall, NarrowGatherCall, NarrowGruCall, NarrowProductCall>;

}  // namespace heed
