/// Which functions the installed library shows: everything else is hidden.
#pragma once

#if defined(__GNUC__)
#define HC_API __attribute__((visibility("default")))
#else
#define HC_API
#endif
