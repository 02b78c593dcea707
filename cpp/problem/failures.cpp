#include "problem/failures.hpp"

namespace heed {

namespace {

/// A message, cut off where the room ends.
class Message {
 public:
  void add(const char* text) {
    for (; *text != '\0'; ++text) add(*text);
  }

  void add(Index number) {
    if (number < 0) add('-');
    const auto digit = [](Index digits) { return static_cast<char>('0' + (digits < 0 ? -digits : digits)); };
    Index power = 1;
    while (number / power > 9 || number / power < -9) power *= 10;
    for (; power > 0; power /= 10) add(digit(number / power % 10));
  }

  /// Appends sizes as [1, 8, 512, 64].
  void add(const Shape& shape) {
    const char* before = "[";
    for (const Index size : shape) {
      add(before);
      add(size);
      before = ", ";
    }
    add("]");
  }

  [[nodiscard]] const char* text() const { return text_; }

 private:
  void add(char letter) {
    if (size_ + 1 < Status::kRoom) text_[size_++] = letter;
  }

  std::size_t size_ = 0;
  char text_[Status::kRoom] = {};
};

}  // namespace

Status broken(const char* operation, StatusCode code, std::initializer_list<MessagePart> rule) {
  Message message;
  message.add(operation);
  message.add(": ");
  for (const MessagePart& piece : rule) {
    if (piece.text != nullptr) {
      message.add(piece.text);
    } else if (piece.shape != nullptr) {
      message.add(*piece.shape);
    } else {
      message.add(piece.number);
    }
  }
  return {code, message.text()};
}

}  // namespace heed
