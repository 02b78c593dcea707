# xsimd for the kernels; Catch2 and JSON for the tests. `node scripts/toolchain` finds or fetches them.

add_library(heed_xsimd INTERFACE)
if(HEED_XSIMD_INCLUDE_DIR)
  target_include_directories(heed_xsimd SYSTEM INTERFACE ${HEED_XSIMD_INCLUDE_DIR})
else()
  find_package(xsimd 13.2 REQUIRED)
  target_link_libraries(heed_xsimd INTERFACE xsimd)
endif()

if(HEED_TESTS)
  if(NOT EXISTS "${HEED_CATCH2_DIR}/catch_amalgamated.cpp")
    message(FATAL_ERROR "HEED_CATCH2_DIR must hold catch_amalgamated.cpp, got '${HEED_CATCH2_DIR}'. "
      "Run `npm test`, or `node scripts/toolchain` to see what it found, or set HEED_TESTS=OFF.")
  endif()
  add_library(heed_catch2 STATIC ${HEED_CATCH2_DIR}/catch_amalgamated.cpp)
  target_include_directories(heed_catch2 SYSTEM PUBLIC ${HEED_CATCH2_DIR})
  # Catch2 has 12,000 lines and is compiled for every preset: without optimization and sanitizers that is fastest.
  target_compile_options(heed_catch2 PRIVATE -w -O0 -g0)
  if(HEED_SANITIZERS)
    target_compile_options(heed_catch2 PRIVATE -fno-sanitize=all)
  endif()

  add_library(heed_json INTERFACE)
  if(HEED_JSON_INCLUDE_DIR)
    target_include_directories(heed_json SYSTEM INTERFACE ${HEED_JSON_INCLUDE_DIR})
  else()
    find_package(nlohmann_json REQUIRED)
    target_link_libraries(heed_json INTERFACE nlohmann_json::nlohmann_json)
  endif()
endif()
