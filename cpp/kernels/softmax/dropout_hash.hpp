// The random numbers of dropout: a hash of seed, query and key, so that they are the same for any
// threads, blocks and backends. docs/semantics/attention.md gives the formula to the outside.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// A permutation of 32-bit numbers in which each bit of x flips each bit of the result half the
/// time: "lowbias32" of Chris Wellons' search (github.com/skeeto/hash-prospector). For a number or a vector.
template <class Word>
constexpr Word mix_bits(Word x) {
  x = x ^ (x >> 16);
  x = x * Word(0x7FEB352DU);
  x = x ^ (x >> 15);
  x = x * Word(0x846CA68BU);
  return x ^ (x >> 16);
}

/// `row` counts the queries of all heads and batch entries. No two rows of a seed have the same stream.
constexpr std::uint32_t dropout_stream(std::uint32_t seed, std::uint32_t row) {
  return mix_bits(mix_bits(seed + 0x9E3779B9U) ^ row);
}

/// What is XORed for a key with the stream of its row, before mix_bits() makes the random number of the pair. It is
/// linear modulo 2^32, dropout_key(a + b) = dropout_key(a) + dropout_key(b), so a loop over keys adds.
constexpr std::uint32_t dropout_key(std::uint32_t key) { return key * 0x9E3779B9U; }

}  // namespace heed::kernels
