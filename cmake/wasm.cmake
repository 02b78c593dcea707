# heed_wasm: the module that the npm package carries, named after its preset.

add_executable(heed_wasm cpp/bindings/heed_bindings.cpp)
target_include_directories(heed_wasm PRIVATE cpp)
target_link_libraries(heed_wasm PRIVATE heed heed_options embind)
target_compile_options(heed_wasm PRIVATE -fno-exceptions -fno-rtti)
target_compile_options(heed PRIVATE -fno-exceptions -fno-rtti)
target_compile_options(heed_kernels PRIVATE -fno-exceptions -fno-rtti)
# What surrounds the kernels takes no time, but is downloaded.
target_compile_options(heed PRIVATE -Os)
target_compile_options(heed_wasm PRIVATE -Os)
# Embind prints names of types that nobody bound only where there is RTTI.
target_compile_definitions(heed_wasm PRIVATE EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)
set_target_properties(heed_wasm PROPERTIES OUTPUT_NAME ${HEED_ARTEFACT} SUFFIX .mjs)

target_link_options(heed_wasm PRIVATE
  -O3
  --no-entry
  # Chooses the build of Embind that fits objects without RTTI.
  -fno-rtti
  -fno-exceptions
  -sMODULARIZE=1
  -sEXPORT_ES6=1
  # No Node in the glue: it would import node: modules, which bundlers stumble over. It
  # never fetches anything (instantiateWasm is always given), so it runs in Node as it is.
  -sENVIRONMENT=web,worker
  # No `new Function`: a page need grant no more than wasm-unsafe-eval.
  -sDYNAMIC_EXECUTION=0
  -sFILESYSTEM=0
  -sASSERTIONS=0
  -sSUPPORT_LONGJMP=0
  # Small, and allocation is rare: set-up and the arena of a call.
  -sMALLOC=emmalloc
  # A phone gets what it needs and no more. The ceiling is half of what 32 bits address:
  # emmalloc adds sizes to addresses without looking for overflow, and beyond it granted
  # memory that was not there, over live data.
  -sINITIAL_MEMORY=2MB
  -sALLOW_MEMORY_GROWTH=1
  -sMAXIMUM_MEMORY=2GB
  -sABORTING_MALLOC=0
  -sSTACK_SIZE=128KB
  -sINCOMING_MODULE_JS_API=instantiateWasm,wasmMemory
  -sEXPORTED_RUNTIME_METHODS=HEAPU8,HEAP32,HEAPU32,HEAPF32,wasmMemory
  # Workers use the exports of a bare instance, by name.
  -lexports.js
)
if(HEED_SHARED_MEMORY)
  target_sources(heed_wasm PRIVATE
    cpp/bindings/pool_bindings.cpp
    cpp/schedule/task_board.cpp
    cpp/schedule/worker_pool.cpp)
  # Made by JavaScript and shared with the workers; each takes a stack of its own.
  target_link_options(heed_wasm PRIVATE -sIMPORTED_MEMORY=1 -sEXPORTED_FUNCTIONS=__emscripten_stack_restore)
endif()

# What TypeScript needs to know of the module, from its baseline build (the types are
# found by running it, and Node 20 does not run relaxed SIMD unasked).
if(NOT HEED_SHARED_MEMORY AND NOT HEED_RELAXED)
  target_link_options(heed_wasm PRIVATE --emit-tsd=kernels.d.ts)

  add_executable(heed_call_layout cpp/bindings/attention_call_layout.cpp)
  target_include_directories(heed_call_layout PRIVATE cpp cpp/include)
  target_link_libraries(heed_call_layout PRIVATE heed_options)
  target_link_options(heed_call_layout PRIVATE -sENVIRONMENT=node -sSINGLE_FILE=1)
  set_target_properties(heed_call_layout PROPERTIES SUFFIX .cjs)
  add_custom_command(
    OUTPUT attention-call.ts
    COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:heed_call_layout> > attention-call.ts
    DEPENDS heed_call_layout
    VERBATIM)
  add_custom_target(heed_call_types ALL DEPENDS attention-call.ts)
endif()
