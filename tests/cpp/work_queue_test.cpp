// The work queue under contention: each task runs once, for its own call, however late a worker comes.
#include "schedule/work_queue.hpp"

#include <algorithm>
#include <atomic>
#include <catch_amalgamated.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace heed::testing {
namespace {

using std::chrono::milliseconds;

/// A queue with threads that serve it, as workers 1, 2, ...
class ServedQueue {
 public:
  explicit ServedQueue(int workers, std::uint32_t generation = 0) : queue_(generation) {
    for (int worker = 1; worker < workers; ++worker) {
      threads_.emplace_back([this, worker] { queue_.serve(worker); });
    }
  }
  ~ServedQueue() {
    queue_.stop();
    for (std::thread& thread : threads_) thread.join();
  }
  ServedQueue(const ServedQueue&) = delete;
  ServedQueue& operator=(const ServedQueue&) = delete;

  WorkQueue* operator->() { return &queue_; }

 private:
  WorkQueue queue_;
  std::vector<std::thread> threads_;
};

/// Counts how often each task of one set ran, and who ran any.
struct Tally {
  explicit Tally(std::size_t count) : times(count) {}

  std::vector<std::atomic<int>> times;
  std::array<std::atomic<int>, WorkQueue::kMaxWorkers> of_worker{};

  TaskSet tasks() {
    return {[](void* context, Index task, int worker) {
              Tally& mine = *static_cast<Tally*>(context);
              // Unequal: some tasks take a thousand times as long as others.
              for (Index turn = task % 7 == 3 ? 1000 : 1; turn > 0; --turn) waste.fetch_add(1);
              ++mine.times[static_cast<std::size_t>(task)];
              ++mine.of_worker[static_cast<std::size_t>(worker)];
            },
            this, static_cast<Index>(times.size())};
  }

  [[nodiscard]] bool is_each_once() const {
    return std::ranges::all_of(times, [](const std::atomic<int>& one) { return one == 1; });
  }

  static inline std::atomic<int> waste{0};
};

/// Two workers have to meet in it, so nobody can run it alone; one then takes its time.
struct Meeting {
  std::atomic<int> arrived{0};
  milliseconds helper_stays{0};

  TaskSet tasks() {
    return {[](void* context, Index, int worker) {
              Meeting& meeting = *static_cast<Meeting*>(context);
              ++meeting.arrived;
              while (meeting.arrived < 2) std::this_thread::yield();
              if (worker != 0) std::this_thread::sleep_for(meeting.helper_stays);
            },
            this, 2};
  }
};

}  // namespace

TEST_CASE("each task of many tiny sets back to back runs once, with more workers than cores", "[threads]") {
  constexpr int kSets = 4000;
  for (const int workers : {2, 3, 9}) {
    // All of them stay, so that a task that ran late, for another set or twice would show.
    std::vector<std::unique_ptr<Tally>> tallies;
    ServedQueue queue(workers);
    for (int set = 0; set < kSets; ++set) {
      Tally& tally = *tallies.emplace_back(std::make_unique<Tally>(static_cast<std::size_t>(set % 6)));
      queue->run(tally.tasks(), workers);
    }
    INFO(workers << " workers");
    CHECK(std::ranges::all_of(tallies, [](const auto& tally) { return tally->is_each_once(); }));
  }
}

TEST_CASE("what a set points to may go as soon as the set is over", "[threads]") {
  // Each set's context is freed at once: a late worker that touched it is what the sanitizers watch for.
  ServedQueue queue(4);
  bool is_right = true;
  for (int set = 0; set < 3000; ++set) {
    const auto tally = std::make_unique<Tally>(static_cast<std::size_t>(2 + set % 5));
    queue->run(tally->tasks(), 4);
    is_right &= tally->is_each_once();
  }
  CHECK(is_right);
}

TEST_CASE("generations wrap around", "[threads]") {
  ServedQueue queue(3, 0xFFFFFFFFU - 50U);
  for (int set = 0; set < 100; ++set) {
    Tally tally(20);
    queue->run(tally.tasks(), 3);
    REQUIRE(tally.is_each_once());
  }
}

TEST_CASE("nobody is waited for who does not come", "[threads]") {
  WorkQueue queue;
  Tally tally(10);
  queue.run(tally.tasks(), 8);
  CHECK(tally.is_each_once());
  CHECK(tally.of_worker[0] == 10);
}

TEST_CASE("a worker that first comes between two sets finds no task of the last one", "[threads]") {
  Tally first(10);
  Tally second(10);
  WorkQueue queue;
  queue.run(first.tasks(), 2);
  std::thread late([&queue] { queue.serve(1); });
  std::this_thread::sleep_for(milliseconds(2));
  CHECK(first.of_worker[1] == 0);
  queue.run(second.tasks(), 2);
  queue.stop();
  late.join();
  CHECK(first.is_each_once());
  CHECK(second.is_each_once());
}

TEST_CASE("workers beyond those that a set wants take none of its tasks", "[threads]") {
  ServedQueue queue(5);
  std::array<int, 5> tasks_of{};
  for (int set = 0; set < 200; ++set) {
    Tally tally(30);
    TaskSet tasks = tally.tasks();
    tasks.workers = 2;
    queue->run(tasks, 5);
    for (std::size_t worker = 0; worker < tasks_of.size(); ++worker) tasks_of[worker] += tally.of_worker[worker];
  }
  CHECK(tasks_of[0] + tasks_of[1] == 200 * 30);
  CHECK(queue->tasks_done(0) + queue->tasks_done(1) == 200U * 30U);
  CHECK(queue->tasks_done(2) == 0);
}

TEST_CASE("a set for one worker, or of one task, runs in order on the caller", "[threads]") {
  ServedQueue queue(3);
  for (const auto& [workers, count] : {std::pair{1, 50}, std::pair{3, 1}}) {
    std::vector<Index> order;
    TaskSet tasks{[](void* context, Index task, int worker) {
                    CHECK(worker == 0);
                    static_cast<std::vector<Index>*>(context)->push_back(task);
                  },
                  &order, count};
    tasks.workers = workers;
    queue->run(tasks, 3);
    REQUIRE(std::ssize(order) == count);
    CHECK(std::ranges::is_sorted(order));
  }
}

TEST_CASE("tasks are started in the order of their numbers", "[threads]") {
  WorkQueue queue;
  std::vector<Index> order;
  queue.run(
      {[](void* context, Index task, int) { static_cast<std::vector<Index>*>(context)->push_back(task); }, &order, 100},
      2);
  REQUIRE(order.size() == 100);
  CHECK(std::ranges::is_sorted(order));
}

TEST_CASE("workers that fell asleep are woken", "[threads]") {
  ServedQueue queue(2);
  for (int time = 0; time < 3; ++time) {
    std::this_thread::sleep_for(milliseconds(25));  // beyond the time that they look around
    Meeting meeting;
    queue->run(meeting.tasks(), 2);
    CHECK(meeting.arrived == 2);
  }
}

TEST_CASE("a caller that fell asleep over the last task is woken", "[threads]") {
  ServedQueue queue(2);
  for (int time = 0; time < 3; ++time) {
    Meeting meeting{.helper_stays = milliseconds(25)};
    queue->run(meeting.tasks(), 2);
    CHECK(meeting.arrived == 2);
  }
}

TEST_CASE("a set ends without the task of a lost worker, but not before those of the others", "[threads]") {
  struct Scene {
    std::atomic<int> held{0};
    std::atomic<bool> is_lost_one_gone{false};
    std::atomic<int> others_done{0};
  } scene;
  ServedQueue queue(3);
  std::thread front([&] {
    while (scene.held < 2) std::this_thread::yield();
    queue->lose(1);
    // Not over yet: worker 2 still has a task.
    std::this_thread::sleep_for(milliseconds(15));
    scene.held = 3;
  });
  queue->run({[](void* context, Index, int worker) {
                Scene& mine = *static_cast<Scene*>(context);
                // Everybody holds one of three tasks; worker 1 never ends its own, as if it were dead.
                if (worker == 0) {
                  while (mine.held < 2) std::this_thread::yield();
                  return;
                }
                ++mine.held;
                if (worker == 1) {
                  while (!mine.is_lost_one_gone) std::this_thread::yield();
                  return;
                }
                while (mine.held < 3) std::this_thread::yield();
                ++mine.others_done;
              },
              &scene, 3},
             3);
  CHECK(scene.others_done == 1);
  CHECK(!scene.is_lost_one_gone);
  scene.is_lost_one_gone = true;
  front.join();
}

TEST_CASE("a set without lost workers' tasks is whole, though some were lost before", "[threads]") {
  ServedQueue queue(2);
  queue->lose(3);
  for (int set = 0; set < 100; ++set) {
    Tally tally(20);
    queue->run(tally.tasks(), 4);
    REQUIRE(tally.is_each_once());
  }
}

TEST_CASE("workers that each lead sets of their own run each task once, and help each other", "[threads]") {
  for (const int workers : {2, 3, 5}) {
    WorkQueue queue;
    std::atomic<int> leading{workers};
    std::atomic<int> wrong{0};
    std::array<std::atomic<int>, WorkQueue::kMaxWorkers> as_helper{};
    std::vector<std::thread> threads;
    for (int worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        for (int set = 0; set < 500; ++set) {
          const auto tally = std::make_unique<Tally>(static_cast<std::size_t>(2 + (set + worker) % 40));
          queue.run(tally->tasks(), workers, worker);
          wrong += tally->is_each_once() ? 0 : 1;
          for (int place = 1; place < workers; ++place) as_helper[place] += tally->of_worker[place];
          // Now and then it helps instead, until the others have none left either.
          if (set % 50 == 0) queue.help_until(worker, 0.1, [] { return true; });
        }
        --leading;
        for (int one = 0; one < workers; ++one) queue.wake(one);
        queue.help_until(worker, 0.1, [&] { return leading == 0; });
      });
    }
    for (std::thread& thread : threads) thread.join();
    INFO(workers << " workers");
    CHECK(wrong == 0);
    std::uint32_t done = 0;
    for (int worker = 0; worker < workers; ++worker) done += queue.tasks_done(worker);
    std::uint32_t posted = 0;
    for (int worker = 0; worker < workers; ++worker)
      for (int set = 0; set < 500; ++set) posted += static_cast<std::uint32_t>(2 + (set + worker) % 40);
    CHECK(done == posted);
  }
}

TEST_CASE("the numbers of workers in a set are each their own, whoever leads it", "[threads]") {
  // What a place's scratch memory is to a kernel: two workers at one place at a time would show.
  struct Scene {
    std::array<std::atomic<int>, WorkQueue::kMaxWorkers> at_place{};
    std::atomic<int> wrong{0};
    TaskSet tasks() {
      return {[](void* context, Index, int place) {
                Scene& mine = *static_cast<Scene*>(context);
                if (++mine.at_place[static_cast<std::size_t>(place)] != 1 || place >= 4) ++mine.wrong;
                std::this_thread::yield();
                --mine.at_place[static_cast<std::size_t>(place)];
              },
              this, 200};
    }
  };
  WorkQueue queue;
  std::atomic<bool> is_over{false};
  std::vector<std::thread> helpers;
  for (const int worker : {0, 1, 3}) {
    helpers.emplace_back([&, worker] { queue.help_until(worker, 1.0, [&] { return is_over.load(); }); });
  }
  Scene scene;
  for (int set = 0; set < 20; ++set) queue.run(scene.tasks(), 4, 2);
  is_over = true;
  for (const int worker : {0, 1, 3}) queue.wake(worker);
  for (std::thread& helper : helpers) helper.join();
  CHECK(scene.wrong == 0);
}

TEST_CASE("a stop flag leaves out what has not started, and the next set runs in whole", "[threads]") {
  for (const int workers : {1, 2, 4}) {
    ServedQueue queue(workers);
    struct Stopping {
      StopFlag stop{0};
      std::atomic<int> runs{0};
      std::atomic<int> late_runs{0};
    } stopping;
    queue->run({[](void* context, Index, int) {
                  Stopping& mine = *static_cast<Stopping*>(context);
                  if (mine.stop != 0) ++mine.late_runs;
                  if (++mine.runs == 10) mine.stop = 1;
                },
                &stopping, 100'000, workers, &stopping.stop},
               workers);
    INFO(workers << " workers");
    CHECK(stopping.runs >= 10);
    CHECK(stopping.late_runs < workers);  // those that were past the flag already
    Tally tally(50);
    queue->run(tally.tasks(), workers);
    CHECK(tally.is_each_once());
  }
}

}  // namespace heed::testing
