#include "conformance_file.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "data_files.hpp"

namespace heed::testing {
namespace {

std::optional<ConformanceFile> read_file() {
  const std::string folder = conformance_folder() + "/onnx/";
  std::ifstream index(folder + "cases.json");
  std::ifstream numbers(folder + "cases.bin", std::ios::binary);
  if (!index || !numbers) return std::nullopt;
  ConformanceFile file{.index = Json::parse(index),
                       .bytes = Bytes((std::istreambuf_iterator<char>(numbers)), std::istreambuf_iterator<char>())};
  REQUIRE(file.bytes.size() == file.index["bin_bytes"].get<std::size_t>());
  return file;
}

}  // namespace

const ConformanceFile* conformance_file(const char* what) {
  static const std::optional<ConformanceFile> file = read_file();
  if (file) return &*file;
  const char* const required = std::getenv("HEED_CONFORMANCE_REQUIRED");
  if (required != nullptr && std::string(required) == "1")
    FAIL("ONNX's cases are required and their folder is missing");
  std::printf("conformance: none of ONNX's %s could be seen, their folder is missing\n", what);
  return nullptr;
}

const Json& item(const Json& list, std::size_t at) {
  static const Json absent;
  return at < list.size() ? list[at] : absent;
}

std::vector<std::int64_t> read_integers(const Json& tensor, const Bytes& bytes) {
  REQUIRE(tensor["dtype"] == "int64");
  std::vector<std::int64_t> integers(tensor["length"].get<std::size_t>() / sizeof(std::int64_t));
  std::memcpy(integers.data(), bytes.data() + tensor["offset"].get<std::size_t>(), tensor["length"].get<std::size_t>());
  return integers;
}

Index count_outside(const Json& index, const Owned<float>& got, const Owned<float>& expected) {
  REQUIRE(got.view.shape == expected.view.shape);
  const double absolute = index["tolerance"]["atol"].get<double>();
  const double relative = index["tolerance"]["rtol"].get<double>();
  Index outside = 0;
  for_each_element(got.view.shape, [&](Index b, Index h, Index i, Index d) {
    const auto want = static_cast<double>(expected(b, h, i, d));
    const auto is = static_cast<double>(got(b, h, i, d));
    const double error = is == want ? 0.0 : std::abs(is - want);  // -infinity is as good as itself
    outside += !(error <= absolute + relative * std::abs(want));
  });
  return outside;
}

}  // namespace heed::testing
