# The libraries, static and shared, from the rooms' own objects, and their packages: libhindcast of
# common, proto and the client's core, libhindcast-server of common, proto and the server's core.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Libs.private names the libraries that the static libraries are linked with. Requires.private would
# demand their packages for the shared ones too, which need none of them.
set(private ${MSGPACK_STATIC_LDFLAGS} ${XXHASH_STATIC_LDFLAGS} ${SODIUM_STATIC_LDFLAGS})
foreach(directory ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
  list(REMOVE_ITEM private -L${directory})
endforeach()
list(JOIN private " " private)
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up ${up})

# hc_installed_library(<file name> <target> EXPORT <name> ROOMS ... DESCRIPTION ...): the targets
# <target> and <target>_static of lib<file name>, exported as hindcast::<name> and
# hindcast::<name>_static, and <file name>.pc. The pkg-config file finds its prefix from where it lies,
# so an installed tree may be moved.
function(hc_installed_library file target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXPORT;DESCRIPTION" "ROOMS")
  set(objects "")
  foreach(room ${arg_ROOMS})
    get_target_property(kind ${room} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
      list(APPEND objects $<TARGET_OBJECTS:${room}>)
    endif()
  endforeach()
  foreach(suffix "" _static)
    set(library ${target}${suffix})
    if(suffix STREQUAL "")
      add_library(${library} SHARED ${objects})
      set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION}
        # Before 1.0 every minor version may break the interface.
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
      hc_link(${library} WHOLE)
      if(WIN32) # a program needs the DLL and nothing else
        target_link_options(${library} PRIVATE -static-libgcc)
      endif()
      install(TARGETS ${library} EXPORT hindcast-targets RUNTIME COMPONENT runtime
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development ARCHIVE COMPONENT development)
    else()
      add_library(${library} STATIC ${objects})
      if(HC_WHOLE)
        # Another version of gcc would try to link the intermediate code of the objects, and fail.
        # Their machine code is enough for every compiler.
        add_custom_command(TARGET ${library} POST_BUILD COMMAND ${CMAKE_OBJCOPY} --wildcard
          --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_* --strip-symbol=__gnu_lto_*
          $<TARGET_FILE:${library}> VERBATIM)
      endif()
      target_compile_definitions(${library} INTERFACE $<$<PLATFORM_ID:Windows>:HC_STATIC>)
      install(TARGETS ${library} EXPORT hindcast-static-targets COMPONENT development)
    endif()
    add_library(hindcast::${arg_EXPORT}${suffix} ALIAS ${library})
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME ${file}
      EXPORT_NAME ${arg_EXPORT}${suffix})
    target_include_directories(${library} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${library}
      PRIVATE PkgConfig::MSGPACK PkgConfig::XXHASH PkgConfig::SODIUM)
  endforeach()
  file(WRITE ${PROJECT_BINARY_DIR}/${file}.pc
"prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}

Name: ${file}
Description: ${arg_DESCRIPTION}
Version: ${PROJECT_VERSION}
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}
Libs: -L\${libdir} -l${file}
Libs.private: ${private}
")
  install(FILES ${PROJECT_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
endfunction()

hc_installed_library(hindcast hindcast EXPORT hindcast ROOMS hc_common hc_proto hc_client
  DESCRIPTION "The client of an authoritative game server with rollback")
hc_installed_library(hindcast-server hindcast_server EXPORT server ROOMS hc_common hc_proto hc_server
  DESCRIPTION "An authoritative game server with rollback")

# hindcast::game is for a game as a plugin: the headers alone. The program that loads the plugin has
# the functions.
add_library(hindcast_game INTERFACE)
add_library(hindcast::game ALIAS hindcast_game)
set_target_properties(hindcast_game PROPERTIES EXPORT_NAME game)
target_include_directories(hindcast_game INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS hindcast_game EXPORT hindcast-targets)

# What a game includes: the public room, and nothing else.
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/hindcast/*.h)
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hindcast COMPONENT development)

# The CMake package. The shared libraries bring all they need; the static ones are offered where the
# packages are that they are linked with.
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
  message(STATUS "The static libraries need msgpack, libxxhash and libsodium: not offered")
endif()
]])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hindcast-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${package_file} ${PROJECT_BINARY_DIR}/hindcast-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)
foreach(targets hindcast-targets hindcast-static-targets)
  install(EXPORT ${targets} NAMESPACE hindcast:: DESTINATION ${package_dir} COMPONENT development)
endforeach()
