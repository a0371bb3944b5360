# The library for pages, in build/wasm/web: hindcast.js with its types, hindcast.wasm with the client, and
# hindcast-match.wasm with the server and links too.

set(HC_WEB_DIR ${PROJECT_BINARY_DIR}/web)
hc_sources(web web)
# What a page shares with hindcast-view and its bots: files without the operating system or SDL.
foreach(file common/programs/game_export common/programs/thinker client/view/arena client/view/controls
    client/view/dots client/view/drawing_check client/view/scene client/view/shown_events)
  list(APPEND web ${PROJECT_SOURCE_DIR}/${file}.c)
endforeach()

# hc_module(<name> ROOMS ...): a module that exports the functions of the public headers, and of libc those
# that a game may call.
function(hc_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS")
  add_executable(${name} ${web})
  foreach(room ${arg_ROOMS})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${room}>)
  endforeach()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE PkgConfig::MSGPACK PkgConfig::XXHASH PkgConfig::SODIUM)
  target_link_options(${name} PRIVATE -mexec-model=reactor -Wl,--export-dynamic -Wl,--gc-sections
    -Wl,--strip-all -Wl,--export-table -Wl,--growable-table)
  foreach(function __stack_pointer malloc free memcmp memcpy memmove memset snprintf strcmp strlen
      atan2 cos hypot sin hc_cl_controls_apply)
    target_link_options(${name} PRIVATE -Wl,--export=${function})
  endforeach()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${HC_WEB_DIR} SUFFIX .wasm)
endfunction()

set(client_rooms hc_common hc_proto hc_client)
hc_module(hindcast ROOMS ${client_rooms})
hc_module(hindcast-match ROOMS ${client_rooms} hc_server)

# One file for a page: a module of its own is a part of it.
set(parts memory games page client server match hindcast)
list(TRANSFORM parts PREPEND ${PROJECT_SOURCE_DIR}/web/)
list(TRANSFORM parts APPEND .js)
add_custom_command(OUTPUT ${HC_WEB_DIR}/hindcast.js ${HC_WEB_DIR}/hindcast.d.ts
  COMMAND ${CMAKE_COMMAND} "-DPARTS=${parts}" -DOUT=${HC_WEB_DIR}/hindcast.js
    -P ${PROJECT_SOURCE_DIR}/cmake/join_modules.cmake
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/web/hindcast.d.ts ${HC_WEB_DIR}/hindcast.d.ts
  DEPENDS ${parts} ${PROJECT_SOURCE_DIR}/web/hindcast.d.ts ${PROJECT_SOURCE_DIR}/cmake/join_modules.cmake
  VERBATIM)
configure_file(${PROJECT_SOURCE_DIR}/web/package.json.in ${HC_WEB_DIR}/package.json @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/web/README.md ${HC_WEB_DIR}/README.md COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/LICENSE ${HC_WEB_DIR}/LICENSE COPYONLY)
add_custom_target(hindcast_js ALL DEPENDS ${HC_WEB_DIR}/hindcast.js)

# hc_side_module(<name> <source>...): a game, with its drawing, as a side module in build/wasm/web. The
# compiler makes position-independent code for Emscripten's target alone, whose libc a game does not need.
function(hc_side_module name)
  set(objects "")
  foreach(source ${ARGN})
    get_filename_component(stem ${source} NAME_WE)
    set(object ${PROJECT_BINARY_DIR}/side/${name}-${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_C_COMPILER} --target=wasm32-unknown-emscripten -std=c11 -O2 -fPIC -fvisibility=hidden -D__wasi__=1
        -isystem /usr/include/wasm32-wasi -I${PROJECT_SOURCE_DIR}/include -c ${source} -o ${object}
      DEPENDS ${source} VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  add_custom_command(OUTPUT ${HC_WEB_DIR}/${name}.wasm
    COMMAND ${HC_WASM_LD} -shared --experimental-pic --allow-undefined --strip-all
      --export-if-defined=hindcast_game --export-if-defined=hindcast_drawing -o ${HC_WEB_DIR}/${name}.wasm ${objects}
    DEPENDS ${objects} VERBATIM)
  add_custom_target(${name}_side ALL DEPENDS ${HC_WEB_DIR}/${name}.wasm)
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/side ${HC_WEB_DIR})
find_program(HC_WASM_LD NAMES wasm-ld-14 wasm-ld REQUIRED)
foreach(game pong duel)
  set(folder ${PROJECT_SOURCE_DIR}/examples/${game})
  hc_side_module(${game} ${folder}/${game}.c ${folder}/drawing.c)
endforeach()

# hc_page(<name> <game>...): a page on which a server, its clients and their links play, in one file,
# build/wasm/web/<name>.html. A game is <name>=<module>, <name>=<module>=<level>, or `arena`.
set(page_parts settings past lane person pane storm)
list(TRANSFORM page_parts PREPEND ${PROJECT_SOURCE_DIR}/web/storm/)
list(TRANSFORM page_parts APPEND .js)
find_program(NODE node REQUIRED)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/storm.js
  COMMAND ${CMAKE_COMMAND} "-DPARTS=${parts};${page_parts}" -DOUT=${PROJECT_BINARY_DIR}/storm.js
    -P ${PROJECT_SOURCE_DIR}/cmake/join_modules.cmake
  DEPENDS ${parts} ${page_parts} ${PROJECT_SOURCE_DIR}/cmake/join_modules.cmake
  VERBATIM)
function(hc_page name)
  set(folder ${PROJECT_SOURCE_DIR}/web/storm)
  string(REPLACE "=" ";" files "${ARGN}")
  list(FILTER files INCLUDE REGEX /)
  add_custom_command(OUTPUT ${HC_WEB_DIR}/${name}.html
    COMMAND ${NODE} ${folder}/bundle.mjs ${HC_WEB_DIR}/${name}.html ${PROJECT_BINARY_DIR}/storm.js
      ${HC_WEB_DIR}/hindcast-match.wasm ${ARGN}
    DEPENDS ${files} ${PROJECT_BINARY_DIR}/storm.js ${HC_WEB_DIR}/hindcast-match.wasm ${folder}/bundle.mjs
      ${folder}/storm.html ${folder}/storm.css
    VERBATIM)
  add_custom_target(${name}_page ALL DEPENDS ${HC_WEB_DIR}/${name}.html)
endfunction()
hc_page(storm arena pong=${HC_WEB_DIR}/pong.wasm
  duel=${HC_WEB_DIR}/duel.wasm=${PROJECT_SOURCE_DIR}/examples/duel/duel.txt)

# A page with a game of one's own: web/page.sh.
set(HC_WEB_GAME "" CACHE STRING "C files of a game, and of its drawing, for a page of its own")
set(HC_WEB_LEVEL "" CACHE STRING "The file of that game's level")
if(HC_WEB_GAME)
  list(GET HC_WEB_GAME 0 first)
  get_filename_component(name ${first} NAME_WE)
  hc_side_module(own-${name} ${HC_WEB_GAME})
  set(game ${name}=${HC_WEB_DIR}/own-${name}.wasm)
  if(HC_WEB_LEVEL)
    string(APPEND game =${HC_WEB_LEVEL})
  endif()
  hc_page(own-${name} ${game} arena)
endif()
