# The rooms, and the rules by which a source file finds its target.

# hc_sources(<variable> <room>...): the rooms' sources, their subfolders' not included. Files that hold
# a main() are left out: hc_program names them.
function(hc_sources variable)
  set(sources "")
  foreach(room ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${room}/*.c)
    list(APPEND sources ${files})
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/(.*_)?main\\.c$")
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# hc_library(<target> SOURCES ... LINK ...): a static library; one without sources only passes on
# what it links.
function(hc_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${target} ${scope} $<$<PLATFORM_ID:Windows>:HC_BUILDS_LIBRARY>)
  target_link_libraries(${target} ${scope} ${arg_LINK})
endfunction()

# hc_program(<name> MAIN <file> [COMPONENT <component>] [PARTS] LINK ...): a program in bin/, if its main
# file is there; of another package than the programs with COMPONENT; quicker to link, and slower, with
# PARTS.
function(hc_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PARTS" "MAIN;COMPONENT" "LINK")
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT programs)
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/${arg_MAIN})
    add_executable(${name} ${PROJECT_SOURCE_DIR}/${arg_MAIN})
    target_compile_definitions(${name} PRIVATE HC_VERSION="${PROJECT_VERSION}"
      HC_VERSION_AND_COMMIT="${PROJECT_VERSION}${HC_COMMIT}")
    # A plugin finds the functions of the public headers in the program that loads it: all of them,
    # also those that the program does not call.
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:hc_common>)
    set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
    target_link_libraries(${name} PRIVATE ${arg_LINK})
    # musl gives threads 128 KiB unless the program names another size; a report takes half of that.
    target_link_options(${name} PRIVATE -Wl,-z,stack-size=1048576)
    if(NOT APPLE)
      # Addresses of functions are found at the start, and cannot be overwritten later.
      target_link_options(${name} PRIVATE -Wl,-z,relro,-z,now)
    endif()
    if(arg_PARTS)
      hc_link(${name} PARTS)
    else()
      hc_link(${name} WHOLE)
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${HC_BIN_DIR})
    if(HC_INSTALL)
      install(TARGETS ${name} COMPONENT ${arg_COMPONENT})
    endif()
  endif()
endfunction()
