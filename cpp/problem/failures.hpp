// How the checks of attention say that a rule is broken.
#pragma once

#include <initializer_list>
#include <string>

#include "heed/status.hpp"

namespace heed {

inline Status broken(StatusCode code, const std::string& rule) { return {code, "attention: " + rule}; }

inline Status first_failure(std::initializer_list<Status> statuses) {
  for (const Status& status : statuses) {
    if (!status.is_ok()) return status;
  }
  return {};
}

}  // namespace heed
