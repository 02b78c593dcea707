# heed_kernels: four objects per instruction set, attention, its expressions, what is beside it, and layers, each alone with its flags, and the tables
# of those that were built, from which the machine picks at run time.

add_library(heed_kernels OBJECT)
target_include_directories(heed_kernels PUBLIC cpp)
target_link_libraries(heed_kernels PRIVATE heed_options heed_xsimd)
set(HEED_INSTANCES "")

# heed_instance(NAME ARCH [FLAGS...]): the fastest first.
function(heed_instance name arch)
  set(sources ${CMAKE_SOURCE_DIR}/cpp/kernels/instances/${name}.cpp)
  foreach(table extra layers mods)
    set(made ${CMAKE_BINARY_DIR}/${table}_${name}.cpp)
    configure_file(cpp/kernels/instances/${table}.cpp.in ${made} @ONLY)
    list(APPEND sources ${made})
  endforeach()
  target_sources(heed_kernels PRIVATE ${sources})
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${ARGN}")
  list(APPEND HEED_INSTANCES ${name} ${arch})
  set(HEED_INSTANCES ${HEED_INSTANCES} PARENT_SCOPE)
endfunction()

if(HEED_EMULATED)
  target_compile_definitions(heed_kernels PRIVATE XSIMD_WITH_EMULATED=1)
  heed_instance(emulated128 xsimd::emulated<128>)
  heed_instance(emulated256 xsimd::emulated<256>)
  heed_instance(emulated512 xsimd::emulated<512>)
elseif(EMSCRIPTEN)
  heed_instance(wasm xsimd::wasm)
  # Loops that few visitors run and all download: with -O2 a page loads 600 bytes more and ALiBi takes a fiftieth less time, with -Oz
  # 150 bytes less and an eighth more.
  set_source_files_properties(${CMAKE_BINARY_DIR}/mods_wasm.cpp PROPERTIES COMPILE_OPTIONS -Os)
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

# heed_table(TABLE FINDER SUFFIX): FINDER() lists the instances' tables, called NAME and SUFFIX.
function(heed_table HEED_TABLE HEED_FINDER suffix)
  set(instances ${HEED_INSTANCES})
  while(instances)
    list(POP_FRONT instances name arch)
    string(APPEND HEED_INSTANCE_DECLARATIONS "extern const ${HEED_TABLE} ${name}${suffix};\n")
    if(HEED_EMULATED)
      # Plain C++ runs anywhere; xsimd's list of what a machine has leaves it out.
      string(APPEND HEED_INSTANCE_ENTRIES "  found.push_back(&${name}${suffix});\n")
    else()
      string(APPEND HEED_INSTANCE_ENTRIES "  add_if_available<${arch}>(found, ${name}${suffix});\n")
    endif()
  endwhile()
  set(made ${CMAKE_BINARY_DIR}/${HEED_FINDER}.cpp)
  configure_file(cpp/kernels/instances/runnable_kernels.cpp.in ${made} @ONLY)
  target_sources(heed_kernels PRIVATE ${made})
endfunction()

heed_table(AttentionKernels runnable_kernels _kernels)
heed_table(ExtraKernels runnable_extra_kernels _extra_kernels)
heed_table(LayerKernels runnable_layer_kernels _layer_kernels)
