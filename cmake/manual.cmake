# The man pages, the completions of bash and the service's configuration, of the --help of the built programs
# (deploy/manual/make.sh). Man pages need scdoc; without it there are none.

set(HC_MANUAL_DIR ${PROJECT_BINARY_DIR}/manual)
find_program(HC_SCDOC scdoc)
mark_as_advanced(HC_SCDOC)
file(GLOB manual CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/deploy/manual/*)
set(programs hindcastd hindcastctl hindcast-bot hindcast-load hindcast-check)
if(TARGET hindcast-view)
  list(APPEND programs hindcast-view)
endif()
add_custom_command(OUTPUT ${HC_MANUAL_DIR}/hindcastd.conf
  COMMAND ${CMAKE_COMMAND} -E env SOURCE_DATE_EPOCH=${HC_COMMIT_S}
    sh ${PROJECT_SOURCE_DIR}/deploy/manual/make.sh ${HC_BIN_DIR} ${HC_MANUAL_DIR} ${PROJECT_VERSION}
  DEPENDS ${manual} ${programs} VERBATIM)
add_custom_target(hindcast-manual ALL DEPENDS ${HC_MANUAL_DIR}/hindcastd.conf)

foreach(program ${programs})
  set(component programs)
  if(program STREQUAL hindcast-view)
    set(component view)
  endif()
  install(FILES ${HC_MANUAL_DIR}/completions/${program} COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endforeach()
if(HC_SCDOC)
  file(GLOB pages RELATIVE ${PROJECT_SOURCE_DIR}/deploy/manual CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/deploy/manual/*.scd)
  foreach(page ${pages})
    string(REGEX MATCH "^(.*)\\.([0-9])\\.scd$" parts ${page})
    set(component programs)
    if(CMAKE_MATCH_1 STREQUAL hindcast-view)
      set(component view)
      if(NOT TARGET hindcast-view)
        continue()
      endif()
    endif()
    install(FILES ${HC_MANUAL_DIR}/man/${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.gz COMPONENT ${component}
      DESTINATION ${CMAKE_INSTALL_MANDIR}/man${CMAKE_MATCH_2})
  endforeach()
else()
  message(STATUS "The man pages need scdoc: not built")
endif()
