/// The referee reads a reduction that the game does not have.
#undef HC_VALIDATE
#define HC_VALIDATE 0
#define TAG_PRESENT 3

#include "tests/games/tag.h"
