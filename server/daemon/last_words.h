/// The last words of a daemon that crashes: the log learns the place in the match, and the clients
/// of all matches learn that they shall come back.
#pragma once

#include "server/daemon/worker.h"

/// From now on a crash tells the place in a match beside the function, and sends each client of
/// these workers' matches its farewell. The workers must be open until the process ends or
/// hc_sv_last_words_forget.
void hc_sv_last_words_open(struct hc_sv_worker *workers);

/// From now on a crash tells nobody: the workers close.
void hc_sv_last_words_forget(void);
