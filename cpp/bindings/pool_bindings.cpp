// What workers on one shared memory call beside the table of heed_bindings.cpp: one leads a
// call, the others serve it. Only in builds for shared memory.
#include <emscripten/em_macros.h>

#include "bindings/run_call.hpp"
#include "schedule/worker_pool.hpp"

extern "C" {

/// Computes with the help of those who serve as workers 1 to `workers` - 1. For one worker at a
/// time: it may sleep, and a page's own thread must not.
EMSCRIPTEN_KEEPALIVE int heed_lead(std::uint32_t address, int workers) {
  heed::WorkerPool pool(workers);
  return heed::bindings::run_call(address, pool);
}

/// Serves for as long as the worker lives. Returns at once when there is no such place.
EMSCRIPTEN_KEEPALIVE void heed_serve(int worker) {
  if (worker > 0 && worker < heed::TaskBoard::kMaxWorkers) heed::shared_board().serve(worker);
}

/// Says that a worker that served is no more, so that nobody waits for its task.
EMSCRIPTEN_KEEPALIVE void heed_lose(int worker) { heed::shared_board().lose(worker); }

/// Tasks that a worker of the pool has run so far, modulo 2^32.
EMSCRIPTEN_KEEPALIVE std::uint32_t heed_tasks_done(int worker) { return heed::shared_board().tasks_done(worker); }

}  // extern "C"
