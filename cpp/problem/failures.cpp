#include "problem/failures.hpp"

#include <string>

#include "problem/describe.hpp"

namespace heed {

Status broken(const char* operation, StatusCode code, std::initializer_list<Piece> rule) {
  std::string message = operation;
  message += ": ";
  for (const Piece& piece : rule) {
    if (piece.text != nullptr) {
      message += piece.text;
    } else if (piece.shape != nullptr) {
      message += describe(*piece.shape);
    } else {
      message += std::to_string(piece.number);
    }
  }
  return {code, message};
}

}  // namespace heed
