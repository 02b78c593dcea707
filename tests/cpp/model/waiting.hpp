// How threads of a search wait, in place of what cpp/schedule/waiting.hpp has for real ones.
#pragma once

#include "model/interleavings.hpp"

namespace heed::waiting {

template <typename T>
using Atomic = ::model::Atomic<T>;
using Word = Atomic<std::uint32_t>;

inline constexpr int kMaxThreads = 3;

/// Each look more is a choice more of who goes on.
inline constexpr int kLooks = 1;

/// As the engine's: the word is compared and the thread put to sleep at once.
inline void sleep_while(Word& word, std::uint32_t value) {
  if (word.load() == value) ::model::running->sleep(&word);
}

inline void wake(Word& word) {
  ::model::running->point();
  ::model::running->wake(&word);
}

/// Later than any limit.
inline double milliseconds() {
  static double now = 0.0;
  return now += 1e6;
}

inline void let_others_run() {}

}  // namespace heed::waiting
