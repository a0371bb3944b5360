# Debian's packages, made by `cpack -G DEB --config build/release/CPackConfig.cmake`: hindcast has the
# programs, libhindcast the shared libraries, libhindcast-dev what a game is built with. hindcast-view,
# if it is built, has a package of its own: a server needs no graphics.

set(packages runtime:libhindcast development:libhindcast-dev)
if(HC_PROGRAMS)
  list(PREPEND packages programs:hindcast)
endif()
if(TARGET hindcast-view)
  list(APPEND packages view:hindcast-view)
endif()
set(CPACK_COMPONENTS_ALL "")
foreach(package ${packages})
  string(REGEX MATCH "^(.*):(.*)$" pair ${package})
  set(component ${CMAKE_MATCH_1})
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${CMAKE_MATCH_2})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CMAKE_MATCH_2})
endforeach()
# The documents and what they link to lie as they do here, so that their links work: whole for those who
# serve and for those who build.
set(documented ${packages})
list(FILTER documented INCLUDE REGEX "^(programs|development):")
foreach(package ${documented})
  string(REGEX MATCH "^(.*):(.*)$" pair ${package})
  set(component ${CMAKE_MATCH_1})
  set(documents ${CMAKE_INSTALL_DATADIR}/doc/${CMAKE_MATCH_2})
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    ${PROJECT_SOURCE_DIR}/COMPATIBILITY.md ${PROJECT_SOURCE_DIR}/SECURITY.md
    ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
    COMPONENT ${component} DESTINATION ${documents})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs COMPONENT ${component} DESTINATION ${documents})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/proto COMPONENT ${component} DESTINATION ${documents}
    FILES_MATCHING PATTERN "*.md")
  install(FILES ${PROJECT_SOURCE_DIR}/tests/bench/rubber_band.svg COMPONENT ${component}
    DESTINATION ${documents}/tests/bench)
  install(FILES ${PROJECT_SOURCE_DIR}/tests/conformance/vectors.json COMPONENT ${component}
    DESTINATION ${documents}/tests/conformance)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples COMPONENT ${component} DESTINATION ${documents}
    PATTERN build EXCLUDE)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/deploy/backend.py COMPONENT ${component} DESTINATION ${documents}/deploy)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/deploy/prometheus ${PROJECT_SOURCE_DIR}/deploy/grafana
    COMPONENT ${component} DESTINATION ${documents}/deploy)
  install(FILES ${PROJECT_SOURCE_DIR}/deploy/hindcastd.logrotate COMPONENT ${component}
    DESTINATION ${documents}/deploy)
  # Operators measure the machine that they rent.
  foreach(script capacity matches plot programs)
    install(FILES ${PROJECT_SOURCE_DIR}/tests/measure_${script}.py COMPONENT ${component}
      DESTINATION ${documents}/tests)
  endforeach()
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Hindcast authors")
set(HC_PACKAGE_CONTACT "Hindcast developers <hindcast@example.net>" CACHE STRING
  "Name and address of the maintainer of the Debian packages")
set(CPACK_PACKAGE_CONTACT ${HC_PACKAGE_CONTACT})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
# The programs and the shared libraries need the packages of the libraries that they are linked with;
# dpkg-shlibdeps finds them.
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_VIEW_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=") # before 1.0
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libhindcast (= ${PROJECT_VERSION})")
# Only the static libraries need these.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libmsgpack-dev, libxxhash-dev, libsodium-dev")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION games)
set(CPACK_DEBIAN_VIEW_PACKAGE_SECTION games)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "The programs: hindcastd serves a game, hindcast-bot plays it, hindcast-load measures how
many clients a server holds, and hindcast-check checks the rules of a game.")
set(CPACK_COMPONENT_VIEW_DESCRIPTION "hindcast-view: a window in which a person plays.")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The shared libraries: a game is linked with libhindcast, and a program that embeds the
server with libhindcast-server.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The headers, static libraries and examples, with which a game, a plugin or a program that
embeds the server is built.")
include(CPack)
