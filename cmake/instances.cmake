# heed_kernels: one object per instruction set, each alone with its flags, and the table
# of those that were built, from which the machine picks at run time.

add_library(heed_kernels OBJECT)
target_include_directories(heed_kernels PUBLIC cpp)
target_link_libraries(heed_kernels PRIVATE heed_options heed_xsimd)
set(HEED_INSTANCE_DECLARATIONS "")
set(HEED_INSTANCE_ENTRIES "")

# heed_instance(NAME ARCH [FLAGS...]): the fastest first.
function(heed_instance name arch)
  set(source ${CMAKE_SOURCE_DIR}/cpp/kernels/instances/${name}.cpp)
  target_sources(heed_kernels PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${ARGN}")
  string(APPEND HEED_INSTANCE_DECLARATIONS "extern const AttentionKernels ${name}_kernels;\n")
  if(HEED_EMULATED)
    # Plain C++ runs anywhere; xsimd's list of what a machine has leaves it out.
    string(APPEND HEED_INSTANCE_ENTRIES "  found.push_back(&${name}_kernels);\n")
  else()
    string(APPEND HEED_INSTANCE_ENTRIES "  add_if_available<${arch}>(found, ${name}_kernels);\n")
  endif()
  set(HEED_INSTANCE_DECLARATIONS ${HEED_INSTANCE_DECLARATIONS} PARENT_SCOPE)
  set(HEED_INSTANCE_ENTRIES ${HEED_INSTANCE_ENTRIES} PARENT_SCOPE)
endfunction()

if(HEED_EMULATED)
  target_compile_definitions(heed_kernels PRIVATE XSIMD_WITH_EMULATED=1)
  heed_instance(emulated128 xsimd::emulated<128>)
  heed_instance(emulated256 xsimd::emulated<256>)
  heed_instance(emulated512 xsimd::emulated<512>)
elseif(EMSCRIPTEN)
  heed_instance(wasm xsimd::wasm)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # GCC 12 warns of its own _mm512_undefined_ps inside intrinsics (gcc.gnu.org/PR105593).
  # Delete when GCC 13 is the floor.
  heed_instance(avx512 xsimd::avx512dq -mavx512f -mavx512cd -mavx512dq
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>")
  heed_instance(avx2 xsimd::fma3<xsimd::avx2> -mavx2 -mfma)
  heed_instance(sse2 xsimd::sse2)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  heed_instance(neon64 xsimd::neon64)
else()
  message(FATAL_ERROR "heed has no kernels for ${CMAKE_SYSTEM_PROCESSOR}: use the native-emulated preset.")
endif()

configure_file(cpp/kernels/instances/runnable_kernels.cpp.in ${CMAKE_BINARY_DIR}/runnable_kernels.cpp @ONLY)
target_sources(heed_kernels PRIVATE ${CMAKE_BINARY_DIR}/runnable_kernels.cpp)
