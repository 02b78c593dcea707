// How every heed operation reports failure. No exceptions cross this surface.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace heed {

enum class StatusCode : std::uint8_t {
  ok = 0,
  shape = 1,        // sizes that do not fit together
  option = 2,       // an option outside its domain
  memory = 3,       // a scratch allocation failed
  unsupported = 4,  // well formed, but this build does not do it
  aborted = 5,      // stopped by the caller
};

/// The outcome of an operation: ok, or a code and one sentence naming the
/// function, the rule and what arrived.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool is_ok() const { return code_ == StatusCode::ok; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::ok;
  std::string message_;
};

}  // namespace heed
