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

set(header_dir ${CMAKE_INSTALL_INCLUDEDIR}/hindcast) # holds common/, proto/, client/
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
  endif()
  add_library(hindcast::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${header_dir}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library}
    PRIVATE PkgConfig::MSGPACK PkgConfig::XXHASH PkgConfig::SODIUM)
endforeach()

install(TARGETS hindcast hindcast_static EXPORT hindcast-targets)

file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/common/*.h ${PROJECT_SOURCE_DIR}/common/*/*.h
  ${PROJECT_SOURCE_DIR}/proto/*.h ${PROJECT_SOURCE_DIR}/client/*.h)
list(JOIN HC_OS_STEMS "|" stems)
list(FILTER headers EXCLUDE REGEX "^(common|client)/(${stems})(_[^/]*)?\\.h$")
file(GLOB public CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/hindcast/*.h)
install(FILES ${public} DESTINATION ${header_dir})
foreach(header ${headers})
  get_filename_component(directory ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${header_dir}/${directory})
endforeach()

# The CMake package.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hindcast)
set(package_file ${PROJECT_BINARY_DIR}/hindcast-config.cmake)
file(WRITE ${package_file} [[
include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
# For those who link the static library; the shared one brings its own.
pkg_search_module(MSGPACK QUIET IMPORTED_TARGET msgpack msgpack-c)
pkg_check_modules(XXHASH QUIET IMPORTED_TARGET libxxhash)
pkg_check_modules(SODIUM QUIET IMPORTED_TARGET libsodium)
include(${CMAKE_CURRENT_LIST_DIR}/hindcast-targets.cmake)
]])
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hindcast-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${package_file} ${PROJECT_BINARY_DIR}/hindcast-config-version.cmake
  DESTINATION ${package_dir})
install(EXPORT hindcast-targets NAMESPACE hindcast:: DESTINATION ${package_dir})

# The pkg-config file finds its prefix from where it lies, so an installed tree may be moved.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up ${up})
file(WRITE ${PROJECT_BINARY_DIR}/hindcast.pc
"prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}

Name: hindcast
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Requires.private: ${MSGPACK_MODULE_NAME} libxxhash libsodium
Cflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR} -I\${prefix}/${header_dir}
Libs: -L\${libdir} -lhindcast
")
install(FILES ${PROJECT_BINARY_DIR}/hindcast.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
