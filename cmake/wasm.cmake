# The four modules of the npm package, named after their preset: heed_wasm_core for attention, heed_wasm_full for attention and everything else
# but training, heed_wasm_training for that too, and heed_wasm_narrow for all and stored weights. An engine loads one of the latter when it is
# first asked for something that it has alone.

# Code around the kernels is mostly executed once a call and downloaded by every page, so it is small; code that is executed for each row is fast.
target_compile_options(heed PRIVATE -fno-exceptions -fno-rtti -Oz)
set_source_files_properties(cpp/operations/attention/attention_job.cpp cpp/operations/attention/attend_splits.cpp cpp/problem/key_range.cpp
  PROPERTIES COMPILE_OPTIONS -O2)
# The kernels are unrolled and vectorized in their source. What a compiler adds, with -O3 above all, is a fifth of the
# download and no speed.
set(heed_kernel_options -fno-exceptions -fno-rtti -O2 -fno-vectorize "SHELL:-mllvm -unroll-runtime=0")
target_compile_options(heed_kernels PRIVATE ${heed_kernel_options})

# heed_module(TARGET NAME CALLS...) adds a module; CALLS are the sources with its calls.
function(heed_module target name)
  list(TRANSFORM ARGN PREPEND cpp/bindings/)
  # The linker keeps the order of sources, and attention_call.cpp compresses well here: from the library a page loads 120 bytes more.
  add_executable(${target} cpp/bindings/heed_bindings.cpp ${ARGN} cpp/operations/attention/attention_call.cpp)
  target_include_directories(${target} PRIVATE cpp)
  target_link_libraries(${target} PRIVATE heed heed_options embind)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -Oz)
  # Embind prints names of types that nobody bound only where there is RTTI.
  target_compile_definitions(${target} PRIVATE EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)
  set(types ${CMAKE_SOURCE_DIR}/cmake/embind_types.js)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} SUFFIX .mjs LINK_DEPENDS ${types})

  target_link_options(${target} PRIVATE
    -O3
    --no-entry
    # This chooses the build of Embind for objects without RTTI.
    -fno-rtti
    -fno-exceptions
    -sMODULARIZE=1
    -sEXPORT_ES6=1
    # The glue has no code for Node: bundlers fail on imports of node: modules. The glue
    # never fetches anything (instantiateWasm is always given), so it works in Node all the same.
    -sENVIRONMENT=web,worker
    # Without `new Function` a page need grant no more than wasm-unsafe-eval.
    -sDYNAMIC_EXECUTION=0
    -sFILESYSTEM=0
    -sASSERTIONS=0
    -sSUPPORT_LONGJMP=0
    # emmalloc is small, and allocation is rare: set-up and the arena of a call.
    -sMALLOC=emmalloc
    # Memory starts small, for phones. The maximum is half of what 32 bits address:
    # emmalloc adds sizes to addresses without an overflow check, and beyond the maximum it
    # returned memory that was not there, over live data.
    -sINITIAL_MEMORY=2MB
    -sALLOW_MEMORY_GROWTH=1
    # Emscripten's default, a fifth, would be megabytes of a large memory that nobody uses.
    -sMEMORY_GROWTH_GEOMETRIC_STEP=0.05
    -sMAXIMUM_MEMORY=2GB
    -sABORTING_MALLOC=0
    -sSTACK_SIZE=128KB
    -sINCOMING_MODULE_JS_API=instantiateWasm,wasmMemory
    -sWASM_BIGINT=1
    --js-library ${types}
    # A second pass for size after -O3 saves a hundredth of the download and costs no speed.
    -sBINARYEN_EXTRA_PASSES=-Oz
    # Workers use the exports of a bare instance by name.
    -lexports.js
    # The map lists the linked libraries, for the notices of their licences.
    LINKER:--Map=${name}.map
  )
  if(HEED_SHARED_MEMORY)
    target_sources(${target} PRIVATE
      cpp/bindings/pool_bindings.cpp
      cpp/schedule/work_queue.cpp
      cpp/schedule/worker_pool.cpp)
    # JavaScript makes the memory and shares it with the workers; each worker has a stack of its own.
    target_link_options(${target} PRIVATE -sIMPORTED_MEMORY=1 -sEXPORTED_FUNCTIONS=__emscripten_stack_restore)
  endif()
endfunction()

heed_module(heed_wasm_core ${HEED_ARTEFACT} core_module.cpp)
heed_module(heed_wasm_full ${HEED_ARTEFACT}-full full_module.cpp run_program.cpp)
heed_module(heed_wasm_training ${HEED_ARTEFACT}-training training_module.cpp run_program.cpp)
heed_module(heed_wasm_narrow ${HEED_ARTEFACT}-narrow narrow_module.cpp run_program.cpp)
if(HEED_RELAXED)
  # The narrow module has the same bits in every variant, so of its kernels only dot products of whole numbers use relaxed SIMD. Objects
  # come before the library, which then gives none of its own.
  get_target_property(sources heed_kernels SOURCES)
  list(REMOVE_ITEM sources cpp/kernels/instances/narrow.cpp)
  add_library(heed_exact_kernels OBJECT ${sources})
  target_include_directories(heed_exact_kernels PRIVATE cpp cpp/include)
  target_link_libraries(heed_exact_kernels PRIVATE heed_options heed_xsimd)
  target_compile_options(heed_exact_kernels PRIVATE ${heed_kernel_options} -mno-relaxed-simd)
  target_sources(heed_wasm_narrow PRIVATE $<TARGET_OBJECTS:heed_exact_kernels>)
endif()

# The baseline build writes the types and layouts for TypeScript. (Types are found by executing
# the module, and Node 20 executes relaxed SIMD only behind a flag.)
if(NOT HEED_SHARED_MEMORY AND NOT HEED_RELAXED)
  target_link_options(heed_wasm_core PRIVATE --emit-tsd=kernels.d.ts)

  set(layouts attention-call.ts operation-calls.ts program-call.ts kv-page.ts expression-program.ts)
  foreach(file ${layouts})
    string(REGEX REPLACE "(.*)-(.*).ts" "\\1_\\2_layout" layout ${file})
    add_executable(heed_${layout} cpp/bindings/${layout}.cpp)
    target_include_directories(heed_${layout} PRIVATE cpp cpp/include)
    target_link_libraries(heed_${layout} PRIVATE heed_options)
    target_link_options(heed_${layout} PRIVATE -sENVIRONMENT=node -sSINGLE_FILE=1)
    set_target_properties(heed_${layout} PROPERTIES SUFFIX .cjs)
    add_custom_command(
      OUTPUT ${file}
      COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:heed_${layout}> > ${file}
      DEPENDS heed_${layout}
      VERBATIM)
  endforeach()
  add_custom_target(heed_call_types ALL DEPENDS ${layouts})
endif()
