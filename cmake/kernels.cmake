# heed_kernels: four objects, for attention, expressions, what is beside attention, and layers. The package's modules link those that they need.

add_library(heed_kernels OBJECT
  cpp/kernels/instances/attention.cpp
  cpp/kernels/instances/extra.cpp
  cpp/kernels/instances/layers.cpp
  cpp/kernels/instances/mods.cpp
)
target_include_directories(heed_kernels PUBLIC cpp)
target_link_libraries(heed_kernels PRIVATE heed_options heed_xsimd)

if(EMSCRIPTEN)
  # Loops that few visitors run and all download: with -O2 a page loads 600 bytes more and ALiBi takes a fiftieth less time, with -Oz
  # 150 bytes less and an eighth more.
  set_source_files_properties(cpp/kernels/instances/mods.cpp PROPERTIES COMPILE_OPTIONS -Os)
endif()
