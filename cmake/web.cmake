# A build to WebAssembly takes headers alone from the system: msgpack-c's and xxHash's. The functions that
# the cores call of libsodium are those of web/crypto.

# Assertions name their files from the root of the sources, so that a module is the same wherever it is built.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

# The system's own include folder would show headers of its libc too.
set(headers ${PROJECT_BINARY_DIR}/system)
file(MAKE_DIRECTORY ${headers})
foreach(name msgpack msgpack.h xxhash.h)
  find_path(HC_FOLDER_OF_${name} ${name} PATHS /usr/include /usr/local/include REQUIRED NO_DEFAULT_PATH)
  file(CREATE_LINK ${HC_FOLDER_OF_${name}}/${name} ${headers}/${name} SYMBOLIC)
endforeach()
foreach(name MSGPACK XXHASH SODIUM)
  add_library(PkgConfig::${name} INTERFACE IMPORTED)
endforeach()
target_include_directories(PkgConfig::MSGPACK SYSTEM INTERFACE ${headers})

hc_sources(web_system web/system)
hc_library(hc_web_system SOURCES ${web_system})
target_include_directories(hc_web_system SYSTEM BEFORE PUBLIC ${PROJECT_SOURCE_DIR}/web/system ${headers})
target_link_libraries(PkgConfig::XXHASH INTERFACE hc_web_system)
target_link_libraries(PkgConfig::SODIUM INTERFACE hc_web_system hc_web_crypto)

# Before the data, so that an overflow of the stack ends the program instead of changing data.
add_link_options(-Wl,--stack-first -Wl,-z,stack-size=262144)
