// Runs a few threads in every order of their atomic operations, and with every value that the memory orders let a load
// see.
//
// The threads are fibers of one thread. Each atomic operation is a choice of who goes on, and a load that is not
// sequentially consistent a choice among the stores that it may still see. Orders are searched by depth, with at most
// so many preemptions. A thread that sleeps goes on when it is woken, and never by itself: where all sleep, a wake-up
// was lost.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heed::testing::model {

constexpr std::size_t kMaxLocations = 96;

/// The oldest store of each location that a thread may still see.
using View = std::array<std::uint16_t, kMaxLocations>;

inline void join(View& view, const View& other) {
  for (std::size_t at = 0; at < view.size(); ++at) view[at] = std::max(view[at], other[at]);
}

/// What a search found.
struct Outcome {
  std::string failure;  // of the first run that failed
  std::uint64_t runs = 0;
  bool is_exhaustive = false;
};

class Run;

/// The run that is under way.
inline Run* running = nullptr;

/// Choices of a run, in their order; those of the last run are made again, but for the last one.
class Choices {
 public:
  std::size_t choose(std::size_t count) {
    if (count <= 1) return 0;
    if (next_ == made_.size()) made_.push_back({0, count});
    return made_[next_++].first;
  }
  /// Goes to the next run; false: there is none.
  bool advance() {
    next_ = 0;
    while (!made_.empty() && made_.back().first + 1 == made_.back().second) made_.pop_back();
    if (made_.empty()) return false;
    ++made_.back().first;
    return true;
  }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> made_;
  std::size_t next_ = 0;
};

class Run {
 public:
  Run(Choices& choices, int preemptions) : choices_(choices), preemptions_(preemptions) { running = this; }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { running = nullptr; }

  /// Starts these threads, and returns when all have ended, sleep, or one has failed.
  void start(const std::vector<std::function<void()>>& bodies) {
    for (const auto& body : bodies) {
      Fiber& fiber = fibers_.emplace_back();
      fiber.body = &body;
    }
    for (std::size_t at = 0; at < fibers_.size(); ++at) {
      Fiber& fiber = fibers_[at];
      getcontext(&fiber.context);
      fiber.stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
      fiber.context.uc_stack = {.ss_sp = fiber.stack.get(), .ss_flags = 0, .ss_size = kStackBytes};
      fiber.context.uc_link = &scheduler_;
      makecontext(&fiber.context, &Run::enter, 0);
    }
    while (failure.empty() && pick()) swapcontext(&scheduler_, &fibers_[current_].context);
    const bool sleeps = std::ranges::any_of(fibers_, [](const Fiber& fiber) { return !fiber.is_over; });
    if (failure.empty() && sleeps) failure = "all threads sleep, and nobody wakes them";
  }

  void fail(std::string why) {
    if (failure.empty()) failure = std::move(why);
    swapcontext(&fibers_[current_].context, &scheduler_);
  }

  /// The current thread is no more.
  void die() {
    fibers_[current_].is_over = true;
    swapcontext(&fibers_[current_].context, &scheduler_);
  }

  /// Somebody else may go on before the next atomic operation.
  void point() {
    if (++steps_ > kMaxSteps) fail("a run has no end");
    const std::vector<std::size_t> others = runnable(current_);
    if (others.empty() || preemptions_ == 0) return;
    const std::size_t chosen = choices_.choose(others.size() + 1);
    if (chosen == 0) return;
    --preemptions_;
    next_ = others[chosen - 1];
    swapcontext(&fibers_[current_].context, &scheduler_);
  }

  /// Until somebody wakes who sleeps on this word.
  void sleep(const void* word) {
    fibers_[current_].sleeps_on = word;
    swapcontext(&fibers_[current_].context, &scheduler_);
  }

  void wake(const void* word) {
    for (Fiber& fiber : fibers_) {
      if (fiber.sleeps_on != word) continue;
      fiber.sleeps_on = nullptr;
      return;
    }
  }

  View& view() { return fibers_[current_].view; }
  std::size_t new_location() { return locations_++; }
  std::size_t choose(std::size_t count) { return choices_.choose(count); }

  std::string failure;

 private:
  static constexpr std::size_t kStackBytes = 1U << 16U;
  static constexpr int kMaxSteps = 20000;

  struct Fiber {
    const std::function<void()>* body = nullptr;
    ucontext_t context{};
    std::unique_ptr<char[]> stack;
    View view{};
    const void* sleeps_on = nullptr;
    bool is_over = false;
  };

  static void enter() {
    Run& run = *running;
    (*run.fibers_[run.current_].body)();
    run.fibers_[run.current_].is_over = true;
  }

  /// Those who could go on, but for one.
  std::vector<std::size_t> runnable(std::size_t but) const {
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < fibers_.size(); ++at) {
      if (at != but && !fibers_[at].is_over && fibers_[at].sleeps_on == nullptr) found.push_back(at);
    }
    return found;
  }

  /// Who goes on, by a preemption or because the last one ended or sleeps.
  bool pick() {
    if (next_ != kNobody) {
      current_ = std::exchange(next_, kNobody);
      return true;
    }
    const std::vector<std::size_t> able = runnable(kNobody);
    if (able.empty()) return false;
    current_ = able[choices_.choose(able.size())];
    return true;
  }

  static constexpr std::size_t kNobody = ~std::size_t{0};

  Choices& choices_;
  int preemptions_;
  int steps_ = 0;
  std::size_t locations_ = 0;
  std::size_t current_ = kNobody;
  std::size_t next_ = kNobody;
  ucontext_t scheduler_{};
  std::vector<Fiber> fibers_;
};

/// In place of std::atomic. Stores come in the order in which they are made.
template <typename T>
class Atomic {
 public:
  constexpr Atomic() : Atomic(T{}) {}
  constexpr Atomic(T value) : first_(value) {}  // NOLINT(google-explicit-constructor): as std::atomic
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const {
    begin();
    const std::size_t oldest = std::max<std::size_t>(
        running->view()[location_], order == std::memory_order_seq_cst ? last_consistent_ : std::size_t{0});
    // The newest first.
    return see(stores_.size() - 1 - running->choose(stores_.size() - oldest), order);
  }

  void store(T value, std::memory_order order = std::memory_order_seq_cst) {
    begin();
    write(value, order, View{});
  }

  T exchange(T value) {
    return change([&](T) { return value; });
  }
  T fetch_add(T more, std::memory_order order = std::memory_order_seq_cst) {
    return change([&](T old) { return static_cast<T>(old + more); }, order);
  }
  T fetch_sub(T less) {
    return change([&](T old) { return static_cast<T>(old - less); });
  }
  bool compare_exchange_weak(T& expected, T value) {
    begin();
    const T last = stores_.back().value;
    if (last != expected) {
      expected = see(stores_.size() - 1, std::memory_order_seq_cst);
      return false;
    }
    change_last([&](T) { return value; }, std::memory_order_seq_cst);
    return true;
  }
  T operator++() { return fetch_add(1) + 1; }
  operator T() const { return load(); }  // NOLINT(google-explicit-constructor): as std::atomic

 private:
  struct Store {
    T value;
    View view;  // what whoever acquires it may no longer miss
  };

  /// Before each operation: the location is known to the run from its first one on.
  void begin() const {
    running->point();
    if (!stores_.empty()) return;
    location_ = running->new_location();
    stores_.push_back({first_, View{}});
  }

  T see(std::size_t at, std::memory_order order) const {
    View& view = running->view();
    view[location_] = static_cast<std::uint16_t>(std::max<std::size_t>(view[location_], at));
    if (order != std::memory_order_relaxed) join(view, stores_[at].view);
    return stores_[at].value;
  }

  /// `before` is what the store passes on beside its own: that of the store which it changes.
  void write(T value, std::memory_order order, View before) {
    View& view = running->view();
    view[location_] = static_cast<std::uint16_t>(stores_.size());
    if (order != std::memory_order_relaxed) join(before, view);
    stores_.push_back({value, before});
    if (order == std::memory_order_seq_cst) last_consistent_ = stores_.size() - 1;
  }

  template <typename Change>
  T change(Change make, std::memory_order order = std::memory_order_seq_cst) {
    begin();
    return change_last(make, order);
  }

  template <typename Change>
  T change_last(Change make, std::memory_order order) {
    const T old = see(stores_.size() - 1, order);
    write(make(old), order, stores_.back().view);
    return old;
  }

  T first_;
  mutable std::size_t location_ = 0;
  mutable std::vector<Store> stores_;
  std::size_t last_consistent_ = 0;
};

/// A run's own expectation; what holds in no order ends the run.
inline void expect(bool is_so, const char* rule) {
  if (!is_so) running->fail(rule);
}

/// `make` gives the threads of a run, with what they share.
inline Outcome search(int preemptions, const std::function<std::vector<std::function<void()>>()>& make,
                      std::uint64_t most = 3'000'000) {
  Outcome outcome;
  Choices choices;
  do {
    const std::vector<std::function<void()>> bodies = make();
    Run run(choices, preemptions);
    run.start(bodies);
    outcome.failure = run.failure;
    ++outcome.runs;
    if (!outcome.failure.empty() || outcome.runs == most) return outcome;
  } while (choices.advance());
  outcome.is_exhaustive = true;
  return outcome;
}

}  // namespace heed::testing::model
