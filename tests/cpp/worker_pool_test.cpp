// Mailboxes of workers: several calls at a time, each led by the worker that it was handed to.
#include "schedule/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <catch_amalgamated.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace heed::testing {
namespace {

/// What a call's number stands for here: how often each of its tasks ran.
struct Call {
  std::vector<std::atomic<int>> times = std::vector<std::atomic<int>>(50);
  int workers = 0;
};

std::vector<std::unique_ptr<Call>> calls;

constexpr std::uint32_t kRefused = 7;  // a number whose call fails
constexpr std::uint32_t kEnd = 8;      // a number whose call is the worker's last

Status compute(std::uint32_t number, Executor& executor) {
  if (number == kEnd) return {};
  if (number == kRefused) return {StatusCode::option, std::string(1000, 'x').c_str()};
  Call& call = *calls.at(number - 100);
  call.workers = executor.worker_count();
  executor.run(
      {[](void* context, Index task, int) { ++static_cast<Call*>(context)->times[static_cast<std::size_t>(task)]; },
       &call, 50});
  return {};
}

class ServedPool {
 public:
  explicit ServedPool(int workers) : pool_(std::make_unique<WorkerPool>()) {
    for (int worker = 0; worker < workers; ++worker) {
      threads_.emplace_back([this, worker] {
        for (std::uint32_t call = 0; call != kEnd; call = pool_->mailbox(worker).call)
          pool_->serve_one(worker, 0.1, compute);
      });
    }
  }
  ~ServedPool() {
    for (int worker = 0; worker < workers(); ++worker) post(worker, kEnd);
    for (std::thread& thread : threads_) thread.join();
  }
  ServedPool(const ServedPool&) = delete;
  ServedPool& operator=(const ServedPool&) = delete;

  [[nodiscard]] int workers() const { return static_cast<int>(threads_.size()); }
  [[nodiscard]] const Mailbox& mailbox(int worker) const { return pool_->mailbox(worker); }
  void post(int worker, std::uint32_t call) { pool_->post(worker, call, workers()); }
  void wait(int worker) const {
    while (mailbox(worker).state == Mailbox::kPosted) std::this_thread::yield();
  }

 private:
  std::unique_ptr<WorkerPool> pool_;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("calls in several mailboxes are each computed once, whole, with the help of all workers", "[threads]") {
  for (const int workers : {1, 2, 4}) {
    calls.clear();
    ServedPool pool(workers);
    constexpr int kRounds = 300;
    for (int i = 0; i < kRounds * workers; ++i) calls.push_back(std::make_unique<Call>());
    for (int round = 0; round < kRounds; ++round) {
      for (int worker = 0; worker < workers; ++worker) {
        pool.wait(worker);  // for its call of the round before
        pool.post(worker, 100U + static_cast<std::uint32_t>(round * workers + worker));
      }
      // Beyond the time that workers look around.
      if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(15));
    }
    for (int worker = 0; worker < workers; ++worker) pool.wait(worker);
    INFO(workers << " workers");
    CHECK(std::ranges::all_of(calls, [&](const std::unique_ptr<Call>& call) {
      return call->workers == workers &&
             std::ranges::all_of(call->times, [](const std::atomic<int>& times) { return times == 1; });
    }));
  }
}

TEST_CASE("a mailbox says how the call of its worker ended, cut to the room there is, whatever the calls of others did",
          "[threads]") {
  calls.clear();
  calls.push_back(std::make_unique<Call>());
  ServedPool pool(2);
  pool.post(0, kRefused);
  pool.post(1, 100);
  pool.wait(0);
  pool.wait(1);
  CHECK(pool.mailbox(0).status == static_cast<int>(StatusCode::option));
  CHECK(std::string(pool.mailbox(0).message) == std::string(sizeof(Mailbox::message) - 1, 'x'));
  CHECK(pool.mailbox(1).status == 0);
  CHECK(std::string(pool.mailbox(1).message).empty());
}

}  // namespace heed::testing
