/// The admin face of the daemon (--admin): HTTP for its owner, on the control thread.
///
/// server/daemon/admin_commands.h lists its paths. The status is at most a tenth of a second old,
/// the metrics at most a second. HEAD is answered as GET. Workers publish their clients when the
/// face asks for them, take orders from their mailboxes, and wait for nobody.
///
/// A web page reaches no more than its own server (DNS rebinding): the host of a request must be
/// localhost, an address of loopback, or the address at which it arrived; another page orders
/// nothing. With a password, all but /healthz and /readyz need it.
#pragma once

#include "server/daemon/control.h"

struct hc_sv_admin;

/// Opens the face that the options of `control` name, which borrows it. NULL: failed, and `why` is
/// a sentence. Without the option it is NULL too, and `why` is empty.
struct hc_sv_admin *hc_sv_admin_open(struct hc_sv_control *control, char *why, size_t why_size);

/// Closes it; NULL is allowed. No worker runs any more.
void hc_sv_admin_close(struct hc_sv_admin *admin);
