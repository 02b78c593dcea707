#include "schedule/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <catch_amalgamated.hpp>
#include <vector>

namespace heed::testing {
namespace {

struct Tally {
  std::vector<int> times;        // a task's own place: two threads on one would be a race
  std::vector<Index> of_worker;  // a worker's own place, likewise
};

TaskSet tasks_of(Tally& tally) {
  return {[](void* context, Index task, int worker) {
            Tally& mine = *static_cast<Tally*>(context);
            ++mine.times[static_cast<std::size_t>(task)];
            ++mine.of_worker[static_cast<std::size_t>(worker)];
          },
          &tally, static_cast<Index>(tally.times.size())};
}

Tally run_once(ThreadPool& pool, std::size_t count) {
  Tally tally{std::vector<int>(count, 0), std::vector<Index>(static_cast<std::size_t>(pool.worker_count()), 0)};
  pool.run(tasks_of(tally));
  return tally;
}

bool is_each_once(const Tally& tally) {
  return std::ranges::all_of(tally.times, [](int times) { return times == 1; });
}

}  // namespace

TEST_CASE("a thread pool runs every task once for any number of workers and tasks", "[threads]") {
  for (const int workers : {1, 2, 3, 8, 17}) {
    ThreadPool pool(workers);
    CHECK(pool.worker_count() == workers);
    for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 100U, 1000U}) {
      INFO(workers << " workers, " << count << " tasks");
      CHECK(is_each_once(run_once(pool, count)));
    }
  }
}

TEST_CASE("a thread pool without tasks returns at once and is used again", "[threads]") {
  ThreadPool pool(4);
  for (int n = 0; n < 100; ++n) {
    CHECK(is_each_once(run_once(pool, 0)));
    CHECK(is_each_once(run_once(pool, 3)));
  }
}

TEST_CASE("a thread pool survives many short runs in a row", "[threads]") {
  ThreadPool pool(3);
  bool is_right = true;
  for (int n = 0; n < 3000; ++n) is_right &= is_each_once(run_once(pool, static_cast<std::size_t>(n % 5)));
  CHECK(is_right);
}

TEST_CASE("a run returns only when what its tasks wrote can be read", "[threads]") {
  // Plain memory, written by workers and read by the caller: what ThreadSanitizer watches.
  ThreadPool pool(4);
  std::vector<Index> squares(64);
  for (Index round = 1; round <= 200; ++round) {
    pool.run({[](void* context, Index task, int) {
                std::vector<Index>& target = *static_cast<std::vector<Index>*>(context);
                target[static_cast<std::size_t>(task)] += task * task;
              },
              &squares, static_cast<Index>(squares.size())});
    Index sum = 0;
    for (const Index square : squares) sum += square;
    REQUIRE(sum == round * 85344);  // 63 * 64 * 127 / 6
  }
}

TEST_CASE("workers that could share the tasks of a run do", "[threads]") {
  // Task 0 waits until another worker has taken part, so the caller cannot do it alone.
  struct Meeting {
    std::atomic<int> arrived{0};
  } meeting;
  ThreadPool pool(2);
  pool.run({[](void* context, Index, int) {
              std::atomic<int>& arrived = static_cast<Meeting*>(context)->arrived;
              ++arrived;
              while (arrived < 2) std::this_thread::yield();
            },
            &meeting, 2});
  CHECK(meeting.arrived == 2);
}

TEST_CASE("a thread pool asked for no workers still has the caller", "[threads]") {
  for (const int workers : {0, -3}) {
    ThreadPool pool(workers);
    CHECK(pool.worker_count() == 1);
    CHECK(is_each_once(run_once(pool, 5)));
  }
}

TEST_CASE("thread pools come and go without running anything", "[threads]") {
  for (int n = 0; n < 200; ++n) {
    const ThreadPool pool(1 + n % 4);
    CHECK(pool.worker_count() == 1 + n % 4);
  }
}

}  // namespace heed::testing
