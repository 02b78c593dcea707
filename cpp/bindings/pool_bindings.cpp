// What workers on one shared memory, and who hands them calls, use beside the table of heed_bindings.cpp. Only in
// builds for shared memory.
#include <emscripten/em_macros.h>

#include "bindings/run_call.hpp"
#include "schedule/worker_pool.hpp"

extern "C" {

/// Hands a worker a call to lead, whose mailbox must be empty.
EMSCRIPTEN_KEEPALIVE void heed_post(int worker, std::uint32_t address, int workers) {
  heed::shared_pool().post(worker, address, workers);
}

/// A worker helps the others, and leads one call. It may sleep, and a page's own thread must not. Worker 0 is handed
/// most calls, and the next often comes as soon as the last is answered: it looks for that as long as the way from one
/// to the other takes. Not where every core has a worker, since whoever is to call needs one as well.
EMSCRIPTEN_KEEPALIVE void heed_serve(int worker, bool looks) {
  constexpr double kLookMilliseconds = 0.05;
  const double look = looks ? kLookMilliseconds : 0.0;
  const double spin = worker == 0 ? look : heed::TaskBoard::kHelperSpinMilliseconds;
  heed::shared_pool().serve_one(worker, spin, heed::bindings::run_call);
}

/// The mailbox of a worker: see Mailbox.
EMSCRIPTEN_KEEPALIVE const heed::Mailbox* heed_door(int worker) { return &heed::shared_pool().mailbox(worker); }

/// Says that a worker that helped is no more, so that nobody waits for its task.
EMSCRIPTEN_KEEPALIVE void heed_lose(int worker) { heed::shared_pool().board().lose(worker); }

/// Tasks that a worker of the pool has run so far, modulo 2^32.
EMSCRIPTEN_KEEPALIVE std::uint32_t heed_tasks_done(int worker) {
  return heed::shared_pool().board().tasks_done(worker);
}

}  // extern "C"
