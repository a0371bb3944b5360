# How everything is compiled. Presets set these options; without a preset the defaults hold.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(validate_default ON)
else()
  set(validate_default OFF)
endif()

option(HC_VALIDATE "Compile the dear checks in (HC_CHECK), such as those for undeclared reads"
  ${validate_default})
option(HC_MARKS "Count how often marked places are passed (HC_MARK), for tests/storm"
  ${validate_default})
option(HC_WERROR "Treat warnings as errors" OFF)
option(HC_FUZZ "Build tests/fuzz with libFuzzer, which needs clang" OFF)
set(HC_SANITIZE "" CACHE STRING "Sanitizers, as -fsanitize= takes them")

# C17 as written: without the GNU dialect, which would also show POSIX to the cores.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

# CMake's own Debug has no optimisation and its Release removes assert().
# -O1 keeps a debug build quick enough for random tests and still easy to step through.
# The report of a sanitizer needs line numbers alone.
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
if(HC_SANITIZE)
  set(CMAKE_C_FLAGS_DEBUG "-O1 -g1")
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3")
if(HC_WASM)
  # A ninth smaller than -O2, and a twentieth slower. A game as a side module shares the pointer to the stack.
  set(CMAKE_C_FLAGS_RELEASE "-Os -mmutable-globals")
endif()

# The rooms' objects are also those of the shared library: position independent, and with nothing
# visible except what HC_API marks.
if(NOT HC_WASM)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_C_VISIBILITY_PRESET hidden)

set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # for clang-tidy and editors

# The cores are many small functions in many files: optimised as a whole, when it is linked, a
# program takes a seventh less time. The objects also hold what can be linked as it is, for the tests,
# which are many, and for those who link the static library. Clang 14 cannot put both into one.
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT HC_SANITIZE)
  set(HC_WHOLE -flto=auto)
  set(HC_PARTS -fno-lto)
  add_compile_options(-flto=auto -ffat-lto-objects)
endif()

# hc_link(<target> WHOLE|PARTS): how an executable or shared library is linked, and how its own
# sources are compiled for that.
function(hc_link target how)
  target_compile_options(${target} PRIVATE ${HC_${how}})
  target_link_options(${target} PRIVATE ${HC_${how}})
endfunction()

# Where off_t and ino_t may have 32 bits, stat() fails for some files. The size of time_t stays that of
# the system: libevent takes times in structs.
add_compile_definitions(_FILE_OFFSET_BITS=64)

add_compile_definitions(HC_VALIDATE=$<BOOL:${HC_VALIDATE}> HC_MARKS=$<BOOL:${HC_MARKS}>)
add_compile_options(
  -Wall -Wextra        # what every compiler agrees on
  -Wconversion         # integers that change value or sign on their way: the wire's commonest bug
  -Wshadow             # an inner name that hides an outer one
  -Wstrict-prototypes -Wold-style-definition # (void), not ()
  -Wmissing-prototypes # public without a header: should be static, or is misspelt
  -Wvla                # stack use must not depend on a peer
  -Wformat=2           # formats that are not literals
  -Wundef              # #if of a name that nobody defined
  -Wwrite-strings -Wpointer-arith -Wimplicit-fallthrough)
if(HC_WERROR)
  add_compile_options(-Werror)
endif()

if(HC_SANITIZE)
  # Without recovery the first finding ends the program, so that no test passes over one.
  # Frame pointers give whole stacks in the reports.
  add_compile_options(-fsanitize=${HC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HC_SANITIZE})
endif()
if(HC_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HC_FUZZ needs clang; this is ${CMAKE_C_COMPILER_ID}")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link) # coverage feedback in the rooms
endif()

if(NOT APPLE AND NOT HC_WASM)
  # A room names all it may need; a program needs at run time only what it really uses.
  add_link_options(-Wl,--as-needed)
endif()

# The rooms of programs handle texts: options, files, requests. The cores check each length themselves, and
# tests and fuzz programs watch them under the sanitizers.
set(HC_HARDENED "")
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT HC_SANITIZE AND NOT HC_FUZZ)
  set(HC_HARDENED -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
