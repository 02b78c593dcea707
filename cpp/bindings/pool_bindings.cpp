// The functions of workers on one shared memory, and of the thread that hands them calls, beside the table of
// heed_bindings.cpp. Only builds for shared memory have them.
#include <emscripten/em_macros.h>

#include "bindings/run_call.hpp"
#include "schedule/worker_pool.hpp"

extern "C" {

/// Hands a call to a worker that will lead it. Its mailbox must be empty.
EMSCRIPTEN_KEEPALIVE void heed_post(int worker, std::uint32_t address, int workers) {
  heed::shared_pool().post(worker, address, workers);
}

/// A worker helps the others, and leads one call. It may sleep, and a page's own thread must not. Worker 0 is handed
/// most calls, and the next often comes as soon as the last is answered, so it spins for as long as a round trip takes.
/// It does not spin where every core has a worker, since the caller needs a core as well.
EMSCRIPTEN_KEEPALIVE void heed_serve(int worker, bool looks) {
  constexpr double kLookMilliseconds = 0.05;
  const double look = looks ? kLookMilliseconds : 0.0;
  const double spin = worker == 0 ? look : heed::WorkQueue::kHelperSpinMilliseconds;
  heed::shared_pool().serve_one(worker, spin, heed::bindings::run_call);
}

/// The mailbox of a worker: see Mailbox.
EMSCRIPTEN_KEEPALIVE const heed::Mailbox* heed_mailbox(int worker) { return &heed::shared_pool().mailbox(worker); }

/// Says that a helping worker is gone, so that nobody waits for its task.
EMSCRIPTEN_KEEPALIVE void heed_lose(int worker) { heed::shared_pool().queue().lose(worker); }

/// Tasks that a worker of the pool has run so far, modulo 2^32.
EMSCRIPTEN_KEEPALIVE std::uint32_t heed_tasks_done(int worker) {
  return heed::shared_pool().queue().tasks_done(worker);
}

}  // extern "C"
