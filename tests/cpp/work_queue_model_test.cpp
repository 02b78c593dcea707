// The work queue and the mailbox under every order of their atomic operations, memory orders included: the engine's own
// source, compiled with atomics of a search.
#include <catch_amalgamated.hpp>
#include <limits>

#include "model/interleavings.hpp"

namespace model = heed::testing::model;

// A second copy, which must not meet the first one.
#define heed heed_searched
#define HEED_WAITING "model/waiting.hpp"
#include "schedule/work_queue.cpp"
#include "schedule/worker_pool.cpp"
#undef heed

namespace heed::testing {
namespace {

using heed_searched::Index;
using heed_searched::TaskSet;
using heed_searched::WorkerPool;
using heed_searched::WorkQueue;
using Threads = std::vector<std::function<void()>>;

constexpr auto kRelaxed = std::memory_order_relaxed;

/// Two tasks. What they write is plain memory to others, so only the end of their set makes it known.
class Work {
 public:
  TaskSet tasks() { return {&Work::run, this, 2}; }

  /// Its set is over.
  void end() {
    for (const model::Atomic<int>& one : results_)
      model::expect(one.load(kRelaxed) == 1, "a set is over before its tasks");
    is_over_ = true;
  }

 private:
  static void run(void* context, Index task, int) {
    Work& work = *static_cast<Work*>(context);
    model::expect(!work.is_over_, "a task runs after its set");
    model::Atomic<int>& result = work.results_[static_cast<std::size_t>(task)];
    model::expect(result.fetch_add(1, kRelaxed) == 0, "a task runs twice");
  }

  std::array<model::Atomic<int>, 2> results_;
  bool is_over_ = false;
};

/// `Scene` is what the threads of a run share; the functions are theirs.
template <typename Scene>
Threads threads_of(const std::vector<void (*)(Scene&)>& functions) {
  const auto scene = std::make_shared<Scene>();
  Threads threads;
  for (const auto function : functions) threads.emplace_back([scene, function] { function(*scene); });
  return threads;
}

void check(const model::Outcome& outcome) {
  CAPTURE(outcome.runs);
  CHECK(outcome.failure == "");
  CHECK(outcome.is_exhaustive);
}

}  // namespace

TEST_CASE("the search finds a store that is seen too late, and none where orders forbid it", "[model]") {
  struct Scene {
    std::array<model::Atomic<int>, 2> flags;
    std::memory_order order = std::memory_order_seq_cst;
    int inside = 0;
  };
  const auto make = [](std::memory_order order) {
    return [order] {
      const auto scene = std::make_shared<Scene>();
      scene->order = order;
      Threads threads;
      for (const std::size_t own : {0U, 1U}) {
        threads.emplace_back([scene, own] {
          scene->flags[own].store(1, scene->order);
          if (scene->flags[1 - own].load(scene->order) == 0) model::expect(++scene->inside == 1, "both are inside");
        });
      }
      return threads;
    };
  };
  check(model::search(4, make(std::memory_order_seq_cst)));
  CHECK(model::search(0, make(std::memory_order_relaxed)).failure == "both are inside");
}

TEST_CASE("the search finds a wake-up that is lost", "[model]") {
  struct Scene {
    heed_searched::waiting::Word asleep{0};
    model::Atomic<int> is_done{0};
  };
  const auto outcome = model::search(2, [] {
    return threads_of<Scene>({[](Scene& scene) {
                                scene.asleep.store(1);
                                // It should have looked once more.
                                heed_searched::waiting::sleep_while(scene.asleep, 1);
                              },
                              [](Scene& scene) {
                                scene.is_done.store(1);
                                heed_searched::waiting::wake_if_asleep(scene.asleep);
                              }});
  });
  CHECK(outcome.failure == "all threads sleep, and nobody wakes them");
}

TEST_CASE("sets one after the other, a helper and the end", "[model]") {
  struct Scene {
    WorkQueue queue;
    std::array<Work, 2> works;
  };
  check(model::search(3, [] {
    return threads_of<Scene>({[](Scene& scene) {
                                for (Work& work : scene.works) {
                                  scene.queue.run(work.tasks(), 2);
                                  work.end();
                                }
                                scene.queue.stop();
                              },
                              [](Scene& scene) { scene.queue.serve(1); }});
  }));
}

TEST_CASE("two leaders that help each other", "[model]") {
  struct Scene {
    WorkQueue queue;
    std::array<Work, 2> works;
    std::array<model::Atomic<int>, 2> are_done;

    void lead(int worker) {
      const auto own = static_cast<std::size_t>(worker);
      queue.run(works[own].tasks(), 2, worker);
      works[own].end();
      are_done[own].store(1);
      queue.wake(1 - worker);
      queue.help_until(worker, 0.0, [&] { return are_done[1 - own].load() == 1; });
    }
  };
  check(model::search(
      2, [] { return threads_of<Scene>({[](Scene& scene) { scene.lead(0); }, [](Scene& scene) { scene.lead(1); }}); }));
}

TEST_CASE("a helper that is lost with a task in its hands", "[model]") {
  struct Scene {
    WorkQueue queue;
    model::Atomic<int> is_lost{0};
    model::Atomic<int> is_over{0};
    heed_searched::waiting::Word watcher{0};
    int whole = 0;

    static void run(void* context, Index, int worker) {
      Scene& scene = *static_cast<Scene*>(context);
      if (worker == 0) {
        ++scene.whole;
        return;
      }
      scene.is_lost.store(1);
      heed_searched::waiting::wake_if_asleep(scene.watcher);
      model::running->die();
    }
  };
  check(model::search(2, [] {
    return threads_of<Scene>(
        {[](Scene& scene) {
           scene.queue.run({&Scene::run, &scene, 2}, 2);
           model::expect(scene.whole + scene.is_lost.load() == 2, "a task is neither run nor lost");
           scene.is_over.store(1);
           heed_searched::waiting::wake_if_asleep(scene.watcher);
           scene.queue.stop();
         },
         [](Scene& scene) { scene.queue.serve(1); },
         [](Scene& scene) {
           heed_searched::waiting::wait_until(scene.watcher, 0.0,
                                              [&] { return scene.is_lost.load() == 1 || scene.is_over.load() == 1; });
           if (scene.is_lost.load() == 1) scene.queue.lose(1);
         }});
  }));
}

TEST_CASE("a mailbox that is posted to, twice, with a helper", "[model]") {
  struct Scene {
    WorkerPool pool;
    static heed_searched::Status compute(std::uint32_t call, heed_searched::Executor& executor) {
      Work work;
      executor.run(work.tasks());
      work.end();
      return call == 1 ? heed_searched::Status{}
                       : heed_searched::Status(heed_searched::StatusCode::shape, "the second");
    }
  };
  check(model::search(2, [] {
    return threads_of<Scene>({[](Scene& scene) {
                                for (const std::uint32_t call : {1U, 2U}) {
                                  scene.pool.post(1, call, 3);
                                  auto& mailbox = const_cast<heed_searched::Mailbox&>(scene.pool.mailbox(1));
                                  while (mailbox.state.load() != heed_searched::Mailbox::kEmpty) {
                                    heed_searched::waiting::sleep_while(mailbox.state, heed_searched::Mailbox::kPosted);
                                  }
                                  model::expect((mailbox.status.load(kRelaxed) == 0) == (call == 1),
                                                "a status is another call's");
                                }
                                scene.pool.queue().stop();
                              },
                              [](Scene& scene) {
                                for (int call = 0; call < 2; ++call) scene.pool.serve_one(1, 0.0, &Scene::compute);
                              },
                              [](Scene& scene) { scene.pool.queue().serve(2); }});
  }));
}

}  // namespace heed::testing
