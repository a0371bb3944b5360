# libhindcast, static and shared: common, proto and the client's core, from the rooms' own objects.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(objects "")
foreach(room hc_common hc_proto hc_client)
  get_target_property(kind ${room} TYPE)
  if(kind STREQUAL "STATIC_LIBRARY")
    list(APPEND objects $<TARGET_OBJECTS:${room}>)
  endif()
endforeach()

foreach(library hindcast hindcast_static)
  if(library STREQUAL "hindcast")
    add_library(${library} SHARED ${objects})
    set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION}
      # Before 1.0 every minor version may break the interface.
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    hc_link(${library} WHOLE)
  else()
    add_library(${library} STATIC ${objects})
    set_target_properties(${library} PROPERTIES OUTPUT_NAME hindcast)
    if(HC_WHOLE)
      # Another version of gcc would try to link the intermediate code of the objects, and fail.
      # Their machine code is enough for every compiler.
      add_custom_command(TARGET ${library} POST_BUILD COMMAND ${CMAKE_OBJCOPY} --wildcard
        --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_* --strip-symbol=__gnu_lto_*
        $<TARGET_FILE:${library}> VERBATIM)
    endif()
  endif()
  add_library(hindcast::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library}
    PRIVATE PkgConfig::MSGPACK PkgConfig::XXHASH PkgConfig::SODIUM)
endforeach()

# hindcast::game is for a game as a plugin: the headers alone. The program that loads the plugin has
# the functions.
add_library(hindcast_game INTERFACE)
add_library(hindcast::game ALIAS hindcast_game)
set_target_properties(hindcast_game PROPERTIES EXPORT_NAME game)
target_include_directories(hindcast_game INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# What a game includes: the public room, and nothing else.
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/hindcast/*.h)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hindcast)

install(TARGETS hindcast hindcast_game EXPORT hindcast-targets)
install(TARGETS hindcast_static EXPORT hindcast-static-targets)

# The CMake package. The shared library brings all it needs; the static one is offered where the
# packages are that it is linked with.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hindcast)
set(package_file ${PROJECT_BINARY_DIR}/hindcast-config.cmake)
file(WRITE ${package_file} [[
include(${CMAKE_CURRENT_LIST_DIR}/hindcast-targets.cmake)
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_search_module(MSGPACK QUIET IMPORTED_TARGET msgpack msgpack-c)
  pkg_check_modules(XXHASH QUIET IMPORTED_TARGET libxxhash)
  pkg_check_modules(SODIUM QUIET IMPORTED_TARGET libsodium)
endif()
if(TARGET PkgConfig::MSGPACK AND TARGET PkgConfig::XXHASH AND TARGET PkgConfig::SODIUM)
  include(${CMAKE_CURRENT_LIST_DIR}/hindcast-static-targets.cmake)
elseif(NOT hindcast_FIND_QUIETLY)
  message(STATUS "hindcast::hindcast_static needs msgpack, libxxhash and libsodium: not offered")
endif()
]])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hindcast-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${package_file} ${PROJECT_BINARY_DIR}/hindcast-config-version.cmake
  DESTINATION ${package_dir})
foreach(targets hindcast-targets hindcast-static-targets)
  install(EXPORT ${targets} NAMESPACE hindcast:: DESTINATION ${package_dir})
endforeach()

# The pkg-config file finds its prefix from where it lies, so an installed tree may be moved.
# Libs.private names the libraries that the static library is linked with. Requires.private would
# demand their packages for the shared library too, which needs none of them.
set(private ${MSGPACK_STATIC_LDFLAGS} ${XXHASH_STATIC_LDFLAGS} ${SODIUM_STATIC_LDFLAGS})
foreach(directory ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
  list(REMOVE_ITEM private -L${directory})
endforeach()
list(JOIN private " " private)
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up ${up})
file(WRITE ${PROJECT_BINARY_DIR}/hindcast.pc
"prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}

Name: hindcast
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
Libs: -L\${libdir} -lhindcast
Libs.private: ${private}
")
install(FILES ${PROJECT_BINARY_DIR}/hindcast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
