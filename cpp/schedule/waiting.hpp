// How a thread waits. Native threads and WebAssembly's workers differ in nothing else.
#pragma once

#include <atomic>
#include <cstdint>

#ifdef HEED_WAITING
#include HEED_WAITING  // threads whose every order is tested
#elif defined(__EMSCRIPTEN__)
extern "C" double emscripten_get_now();  // milliseconds; heed's worker provides it to its bare instance
#else
#include <chrono>
#include <thread>
#endif

#ifndef HEED_WAITING
namespace heed::waiting {

template <typename T>
using Atomic = std::atomic<T>;
using Word = Atomic<std::uint32_t>;

inline constexpr int kMaxThreads = 64;

/// Spinning is cheap; asking for the time and yielding are not.
inline constexpr int kLooks = 200;

#ifdef __EMSCRIPTEN__

/// Sleeps until woken, unless the word holds something else; may return early.
/// Not for a page's own thread, which must not sleep.
inline void sleep_while(Word& word, std::uint32_t value) {
  constexpr std::int64_t kForever = -1;
  // An atomic of 32 bits is a plain word of the memory: libc++ has no futex here, and would poll.
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(value), kForever);
}

inline void wake(Word& word) { __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), 1); }

inline double milliseconds() { return emscripten_get_now(); }

/// Workers cannot yield.
inline void let_others_run() {}

#else

inline void sleep_while(Word& word, std::uint32_t value) { word.wait(value); }

inline void wake(Word& word) { word.notify_one(); }

inline double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline void let_others_run() { std::this_thread::yield(); }

#endif

}  // namespace heed::waiting
#endif

namespace heed::waiting {

/// Spins until `is_over()`, and gives up after some milliseconds.
template <typename Condition>
bool spin_until(Condition is_over, double milliseconds_at_most) {
  double end = 0.0;
  while (true) {
    for (int look = 0; look < kLooks; ++look) {
      if (is_over()) return true;
    }
    const double now = milliseconds();
    if (end == 0.0) end = now + milliseconds_at_most;
    if (now >= end) return false;
    let_others_run();
  }
}

/// Returns when `is_over()`: spins for so many milliseconds, then sleeps. Whoever makes it so afterwards calls
/// wake_if_asleep with the same word. One thread sleeps on a word.
template <typename Condition>
void wait_until(Word& asleep, double spin_milliseconds, Condition is_over) {
  while (!spin_until(is_over, spin_milliseconds)) {
    // The word is set before the last check, and read after the change that this waits for.
    // These operations have one order, so either the check sees the change or the other side
    // sees the word.
    asleep.store(1);
    if (!is_over()) sleep_while(asleep, 1);
    asleep.store(0);
  }
}

inline void wake_if_asleep(Word& asleep) {
  if (asleep.load() != 0 && asleep.exchange(0) != 0) wake(asleep);
}

}  // namespace heed::waiting
