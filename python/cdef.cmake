# The public headers, preprocessed once into lib/omnigram_cdef.h beside libomnigram.so: what the Python package reads,
# so that no signature is written twice.
function(og_python_cdef)
  set(include_flags "")
  set(headers "")
  foreach(layer IN LISTS ARGN)
    list(APPEND include_flags -I${PROJECT_SOURCE_DIR}/${layer}/include)
    file(GLOB layer_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${layer}/include/omnigram/*.h)
    list(APPEND headers ${layer_headers})
  endforeach()
  set(source ${PROJECT_SOURCE_DIR}/python/cdef/omnigram_cdef.c)
  set(output ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/omnigram_cdef.h)
  # The stubs folder stands for the standard headers, whose types cffi knows by itself.
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}
    COMMAND ${CMAKE_C_COMPILER} -E -P -nostdinc "-D__attribute__(x)=" -I${PROJECT_SOURCE_DIR}/python/cdef/stubs
            ${include_flags} ${source} -o ${output}
    DEPENDS ${source} ${headers} VERBATIM COMMENT "Preprocessing the public headers for Python")
  add_custom_target(omnigram_cdef ALL DEPENDS ${output})
  install(FILES ${output} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
