# heed_kernels: the kernels of attention, of the extras (linear attention, rope) and of layers, and functions that they share. The modules of
# the package link the objects that they need.

add_library(heed_kernels OBJECT
  cpp/kernels/instances/attention.cpp
  cpp/kernels/instances/backward.cpp
  cpp/kernels/instances/extra.cpp
  cpp/kernels/instances/half.cpp
  cpp/kernels/instances/layers.cpp
  cpp/kernels/instances/linear_backward.cpp
  cpp/kernels/instances/narrow.cpp
  cpp/kernels/instances/training.cpp
  cpp/kernels/expr/differentiate.cpp
  cpp/kernels/expr/modify.cpp
  cpp/kernels/memory/append_rows.cpp
  cpp/kernels/score/softcap.cpp
  cpp/kernels/softmax/apply_row_stats.cpp
)
target_include_directories(heed_kernels PUBLIC cpp cpp/include)
target_link_libraries(heed_kernels PRIVATE heed_options heed_xsimd)

if(EMSCRIPTEN)
  # Loops that few visitors run and all download: with -O2 a page loads 600 bytes more and ALiBi takes a fiftieth less time, with -Oz
  # 150 bytes less and an eighth more.
  set_source_files_properties(cpp/kernels/expr/modify.cpp PROPERTIES COMPILE_OPTIONS -Os)
  # A first visit must have room for it.
  set_source_files_properties(cpp/kernels/memory/append_rows.cpp PROPERTIES COMPILE_OPTIONS -Oz)
  # A download of those who train: -O2 makes it 240 bytes longer.
  set_source_files_properties(cpp/kernels/instances/linear_backward.cpp PROPERTIES COMPILE_OPTIONS -Os)
endif()
