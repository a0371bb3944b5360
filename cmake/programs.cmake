# The rooms of programs, a library for each, and the programs. They may use the operating system,
# libevent, jansson and inih.

pkg_check_modules(EVENT REQUIRED IMPORTED_TARGET libevent_core libevent_extra)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(INIH REQUIRED IMPORTED_TARGET inih)
find_package(Threads REQUIRED)
# Only hindcast-view needs these: without them it is not built.
pkg_check_modules(SDL IMPORTED_TARGET sdl2>=2.0.22)
pkg_check_modules(PNG IMPORTED_TARGET libpng>=1.6)

# glibc has argp. Elsewhere, as beside musl, it is a library of its own: argp-standalone.
include(CheckFunctionExists)
check_function_exists(argp_parse HC_LIBC_HAS_ARGP)
set(argp "")
if(NOT HC_LIBC_HAS_ARGP)
  find_library(HC_ARGP argp REQUIRED)
  set(argp ${HC_ARGP})
endif()

hc_sources(programs common/programs)
hc_sources(daemon server/daemon)
hc_sources(client_programs client/programs)
hc_sources(bots client/bots)
hc_sources(view client/view)
hc_sources(checker check)

hc_library(hc_programs SOURCES ${programs}
  LINK hc_common PkgConfig::JANSSON Threads::Threads ${argp} ${CMAKE_DL_LIBS})
# The page of the inspector, inside of the program.
set(inspector_folder ${PROJECT_SOURCE_DIR}/server/inspector)
set(inspector_c ${PROJECT_BINARY_DIR}/inspector_files.c)
set(inspector_files index.html inspector.css main.js frames.js map.js plots.js history.js uplot/uPlot.iife.min.js
  uplot/uPlot.min.css uplot/LICENSE)
list(TRANSFORM inspector_files PREPEND ${inspector_folder}/ OUTPUT_VARIABLE inspector_paths)
add_custom_command(OUTPUT ${inspector_c}
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${inspector_folder} -DOUT=${inspector_c} "-DFILES=${inspector_files}"
    -P ${PROJECT_SOURCE_DIR}/cmake/inspector.cmake
  DEPENDS ${inspector_paths} ${PROJECT_SOURCE_DIR}/cmake/inspector.cmake
  VERBATIM)

hc_library(hc_daemon SOURCES ${daemon} ${inspector_c}
  LINK hc_server_matches hc_programs PkgConfig::EVENT PkgConfig::INIH Threads::Threads)
hc_library(hc_client_programs SOURCES ${client_programs} LINK hc_client hc_programs)
hc_library(hc_bots SOURCES ${bots} LINK hc_client_programs PkgConfig::EVENT)
hc_library(hc_checker SOURCES ${checker} LINK hc_programs)
foreach(room hc_programs hc_daemon)
  target_compile_options(${room} PRIVATE ${HC_HARDENED})
endforeach()

hc_program(hindcastd MAIN server/daemon/main.c LINK hc_daemon)
hc_program(hindcastctl MAIN server/daemon/ctl_main.c PARTS LINK hc_daemon)
hc_program(hindcast-bot MAIN client/bots/bot_main.c LINK hc_bots)
hc_program(hindcast-load MAIN client/bots/load_main.c LINK hc_bots)
hc_program(hindcast-check MAIN check/main.c LINK hc_checker)

if(SDL_FOUND AND PNG_FOUND)
  hc_library(hc_view SOURCES ${view} LINK hc_client_programs PkgConfig::SDL PkgConfig::PNG m)
  hc_program(hindcast-view MAIN client/view/view_main.c COMPONENT view PARTS LINK hc_view)
  # A drawing finds the functions of hindcast/client.h there too.
  target_sources(hindcast-view PRIVATE $<TARGET_OBJECTS:hc_client>)
else()
  message(STATUS "hindcast-view needs SDL 2 and libpng (libsdl2-dev, libpng-dev): not built")
endif()
