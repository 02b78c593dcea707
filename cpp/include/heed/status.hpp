// How every heed operation reports failure. No exceptions cross this surface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heed {

enum class StatusCode : std::uint8_t {
  ok = 0,
  shape = 1,        // sizes that do not fit together
  option = 2,       // an option outside its domain
  memory = 3,       // a scratch allocation failed
  unsupported = 4,  // well formed, but this build does not do it
  aborted = 5,      // stopped by the caller
};

/// The outcome of an operation: ok, or a code and one sentence naming the function, the rule and what arrived. The
/// sentence is cut off where it is longer than there is room; a std::string would add code to the download that nothing
/// else needs.
class [[nodiscard]] Status {
 public:
  static constexpr std::size_t kRoom = 240;

  Status() { message_[0] = '\0'; }
  Status(StatusCode code, const char* message) : code_(code) {
    std::size_t length = 0;
    for (; length + 1 < kRoom && message[length] != '\0'; ++length) message_[length] = message[length];
    message_[length] = '\0';
  }

  [[nodiscard]] bool is_ok() const { return code_ == StatusCode::ok; }
  [[nodiscard]] StatusCode code() const { return code_; }
  /// Ends with a zero.
  [[nodiscard]] std::string_view message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::ok;
  char message_[kRoom];
};

}  // namespace heed
