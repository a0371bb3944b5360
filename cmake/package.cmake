# Debian's packages, made by `cpack -G DEB --config build/release/CPackConfig.cmake`: hindcast has the
# programs, hindcast-server the service, libhindcast the shared libraries, libhindcast-dev what a game is
# built with. hindcast-view, if it is built, has a package of its own: a server needs no graphics.

set(packages runtime:libhindcast development:libhindcast-dev)
if(TARGET hindcast-manual) # the programs have been asked for their help
  list(PREPEND packages programs:hindcast service:hindcast-server)
elseif(HC_PROGRAMS)
  list(PREPEND packages programs:hindcast)
endif()

# Debian's changelog, which is that of all packages.
set(HC_PACKAGE_CONTACT "Hindcast developers <hindcast@example.net>" CACHE STRING
  "Name and address of the maintainer of the Debian packages")
set(changelog ${PROJECT_BINARY_DIR}/debian/changelog)
set(ENV{SOURCE_DATE_EPOCH} ${HC_COMMIT_S})
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
unset(ENV{SOURCE_DATE_EPOCH})
file(WRITE ${changelog} "hindcast (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}. CHANGELOG.md of the sources tells what it changes.

 -- ${HC_PACKAGE_CONTACT}  ${date}
")
execute_process(COMMAND gzip -9 -n -f -k ${changelog})

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
  install(FILES ${changelog}.gz COMPONENT ${component} EXCLUDE_FROM_ALL
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
    ${PROJECT_SOURCE_DIR}/deploy/agones ${PROJECT_SOURCE_DIR}/deploy/kubernetes ${PROJECT_SOURCE_DIR}/deploy/docker
    COMPONENT ${component} DESTINATION ${documents}/deploy)
  install(FILES ${PROJECT_SOURCE_DIR}/deploy/hindcastd.logrotate COMPONENT ${component}
    DESTINATION ${documents}/deploy)
  # Operators measure the machine that they rent.
  foreach(script capacity matches plot programs)
    install(FILES ${PROJECT_SOURCE_DIR}/tests/measure_${script}.py COMPONENT ${component}
      DESTINATION ${documents}/tests)
  endforeach()
endforeach()

# The service: only its package has it, because its paths are those of the system.
if(TARGET hindcast-manual)
  set(systemd ${PROJECT_SOURCE_DIR}/deploy/systemd)
  set(service COMPONENT service EXCLUDE_FROM_ALL)
  install(FILES ${systemd}/hindcastd.service ${systemd}/hindcastd@.service ${systemd}/hindcastd.socket
    ${systemd}/hindcastd@.socket ${service} DESTINATION lib/systemd/system)
  install(FILES ${systemd}/hindcast.sysusers RENAME hindcast.conf ${service} DESTINATION lib/sysusers.d)
  install(FILES ${systemd}/hindcast.tmpfiles RENAME hindcast.conf ${service} DESTINATION lib/tmpfiles.d)
  install(FILES ${HC_MANUAL_DIR}/hindcastd.conf ${service} DESTINATION /etc/hindcast)
  install(FILES ${PROJECT_SOURCE_DIR}/deploy/hindcastd.logrotate RENAME hindcast-server ${service}
    DESTINATION /etc/logrotate.d)
  foreach(script postinst prerm postrm conffiles)
    list(APPEND CPACK_DEBIAN_SERVICE_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/debian/${script})
  endforeach()
  set(CPACK_DEBIAN_SERVICE_PACKAGE_ARCHITECTURE all)
  # passwd has useradd, for systems without systemd.
  set(CPACK_DEBIAN_SERVICE_PACKAGE_DEPENDS "hindcast (= ${PROJECT_VERSION}), passwd")
  set(CPACK_DEBIAN_SERVICE_PACKAGE_RECOMMENDS systemd)
  set(CPACK_DEBIAN_SERVICE_PACKAGE_SUGGESTS "logrotate, prometheus")
  set(CPACK_DEBIAN_SERVICE_PACKAGE_SECTION net)
  set(CPACK_DEBIAN_SERVICE_DESCRIPTION "Hindcast game server as a service
It runs hindcastd by systemd, as a user of its own, with the settings of
/etc/hindcast/hindcastd.conf.")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Hindcast authors")
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
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=") # before 1.0
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libhindcast (= ${PROJECT_VERSION})")
# Only the static libraries need these.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libmsgpack-dev, libxxhash-dev, libsodium-dev")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION net)
set(CPACK_DEBIAN_VIEW_PACKAGE_SECTION net)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# The first line is the synopsis, of which CPack would make one line of all packages.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEBIAN_PROGRAMS_DESCRIPTION "Game server with rollback, and its tools
hindcastd serves a game: it rewinds its world for inputs that arrive late,
and broadcasts what changes. hindcastctl steers it, hindcast-bot plays,
hindcast-load measures how many clients a server holds, and hindcast-check
checks the rule of a game. hindcast-server runs hindcastd as a service.")
set(CPACK_DEBIAN_VIEW_DESCRIPTION "Window in which a person plays on a Hindcast server
It plays over simulated links, whose latency, jitter and loss are changed by
keys, and shows the newest state received beside what it predicts: so a
player sees what a rollback does. A server needs none of this.")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Libraries of the Hindcast game server
A game is linked with libhindcast, its client, and a program that embeds the
server with libhindcast-server.")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Files to build games for the Hindcast server
The headers, static libraries and examples, with which a game, a plugin or a
program that embeds the server is built.")
include(CPack)
