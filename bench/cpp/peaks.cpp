// The loops that show a machine's peaks and read bandwidth, as a bare WebAssembly module for the bench's pages.
#include <emscripten/emscripten.h>

#include "chain_rate.hpp"
#include "narrow_rate.hpp"
#include "read_rate.hpp"
#include "tile_rate.hpp"

extern "C" {

EMSCRIPTEN_KEEPALIVE double tile(int repeats) { return heed::bench::run_tiles(repeats); }
EMSCRIPTEN_KEEPALIVE double chain(int repeats) { return heed::bench::run_chains(repeats); }
EMSCRIPTEN_KEEPALIVE double int8(int repeats) { return heed::bench::run_narrow(repeats, 8); }
EMSCRIPTEN_KEEPALIVE double int4(int repeats) { return heed::bench::run_narrow(repeats, 4); }
EMSCRIPTEN_KEEPALIVE double read(int repeats, int numbers) {
  return heed::bench::read_numbers(static_cast<std::size_t>(numbers), repeats);
}
}
