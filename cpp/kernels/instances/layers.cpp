// The kernels of layers.
#include "kernels/arch.hpp"
#include "kernels/instances/instances.hpp"
#include "kernels/layer_kernels.hpp"

namespace heed::kernels {

constinit const LayerKernels layer_kernels = make_layer_kernels<BuiltArch>(kArchName);

}  // namespace heed::kernels
