/// Tag as it is.
#include "tests/games/tag.h"
