/// Owns the functions of xxHash, whose header alone a build to WebAssembly takes from the system.
#define XXH_STATIC_LINKING_ONLY
#define XXH_IMPLEMENTATION
#include <xxhash.h>
