# heed_options: the compile options of every target of heed, which links it privately.

add_library(heed_options INTERFACE)
target_compile_options(heed_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor -Werror
  # Options are structs, and a caller names only the fields that it needs.
  -Wno-missing-field-initializers
  # The exponential relies on separate roundings, and results must not depend on the compiler's
  # choice to fuse: the kernels name fused operations explicitly.
  -ffp-contract=off
)

# Native builds are for the machine that compiles them: only WebAssembly is shipped.
if(HEED_EMULATED)
  target_compile_definitions(heed_options INTERFACE HEED_EMULATED=${HEED_EMULATED} XSIMD_WITH_EMULATED=1)
elseif(NOT EMSCRIPTEN)
  # The meaning of "native" is part of every command: without it ccache and older build folders would reuse objects for other instruction sets.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null OUTPUT_VARIABLE macros COMMAND_ERROR_IS_FATAL ANY)
  string(MD5 machine "${macros}")
  target_compile_options(heed_options INTERFACE -march=native)
  target_compile_definitions(heed_options INTERFACE HEED_MACHINE=${machine})
  # GCC 12 warns of its own _mm512_undefined_ps inside intrinsics (gcc.gnu.org/PR105593).
  # Delete this when GCC 13 is the oldest supported version.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(heed_options INTERFACE -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
endif()

if(HEED_SANITIZERS)
  add_compile_options(-fsanitize=${HEED_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HEED_SANITIZERS})
endif()

if(HEED_COVERAGE)
  # The tests as well: of a header's function that both have, the linker keeps one.
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

if(EMSCRIPTEN)
  # Every engine with SIMD has bulk memory.
  add_compile_options(-msimd128 -mbulk-memory)
  if(HEED_RELAXED)
    add_compile_options(-mrelaxed-simd)
  endif()
  if(HEED_SHARED_MEMORY)
    # This picks the shared-memory builds of the system libraries, without the pthread
    # bootstrap: heed has workers of its own.
    add_compile_options(-sWASM_WORKERS=1)
    add_link_options(-sWASM_WORKERS=1)
  endif()
endif()
