# The toolchain of WebAssembly: clang 14 with Debian's wasi-libc, which `sh deploy/install.sh web` installs.
set(CMAKE_SYSTEM_NAME Generic) # CMake 3.25 has no platform of its own for WASI
set(CMAKE_SYSTEM_PROCESSOR wasm32)
find_program(HC_WASM_CLANG NAMES clang-14 clang REQUIRED)
find_program(HC_WASM_AR NAMES llvm-ar-14 llvm-ar REQUIRED)
set(CMAKE_C_COMPILER ${HC_WASM_CLANG})
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR ${HC_WASM_AR})
