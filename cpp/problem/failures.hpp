// How checks say that a rule is broken.
#pragma once

#include <initializer_list>

#include "heed/status.hpp"
#include "heed/tensor_view.hpp"

namespace heed {

/// A part of a message: a text, a number or a shape, which must outlive the call. Parts are plain data and joined in
/// one place: when each check built strings of its own, messages were a fifth of what a page downloads.
struct MessagePart {
  const char* text = nullptr;
  const Shape* shape = nullptr;
  Index number = 0;

  // Implicit, so that a message reads as one.
  MessagePart(const char* words) : text(words) {}     // NOLINT(google-explicit-constructor)
  MessagePart(const Shape& sizes) : shape(&sizes) {}  // NOLINT(google-explicit-constructor)
  MessagePart(Index value) : number(value) {}         // NOLINT(google-explicit-constructor)
};

/// Joins the parts, after the operation's name.
Status broken(const char* operation, StatusCode code, std::initializer_list<MessagePart> rule);

/// The same for attention.
inline Status broken(StatusCode code, std::initializer_list<MessagePart> rule) {
  return broken("attention", code, rule);
}

inline Status first_failure(std::initializer_list<Status> statuses) {
  for (const Status& status : statuses) {
    if (!status.is_ok()) return status;
  }
  return {};
}

}  // namespace heed
