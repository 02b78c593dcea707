# Takes the address of the .wasm file out of Emscripten's glue. heed always instantiates
# the module itself, but bundlers see `new URL("x.wasm", import.meta.url)` and go looking
# for the file, or inline it a second time. Delete when a link option does this.
file(READ ${GLUE} text)
string(REGEX MATCHALL "new URL\\(\"[^\"]*\\.wasm\", ?import\\.meta\\.url\\)\\.href" addresses "${text}")
list(LENGTH addresses count)
if(count GREATER 1)
  message(FATAL_ERROR "${GLUE}: expected at most one address of the module, found ${count}: ${addresses}")
endif()
string(REGEX REPLACE "new URL\\(\"[^\"]*\\.wasm\", ?import\\.meta\\.url\\)\\.href" "\"\"" text "${text}")
file(WRITE ${GLUE} "${text}")
