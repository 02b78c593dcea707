# cmake -D NM=nm -D OBJECTS=a.o;b.o -P check_instances.cmake: fails where an instance's object offers a function that is no template of
# its architecture. Of those that have one name the linker keeps one, and a machine may not know that one's instructions.

set(shared "")
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " W [^\n]+" functions "${symbols}")
  list(FILTER functions EXCLUDE REGEX "xsimd")
  list(APPEND shared ${functions})
endforeach()
list(REMOVE_DUPLICATES shared)
if(shared)
  list(JOIN shared "\n " lines)
  message(FATAL_ERROR "The architectures' objects share functions, which are to be static, or templates of the architecture:\n ${lines}")
endif()
