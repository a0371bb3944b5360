/// The state of the daemon as the service manager that started it is told: systemd, by datagrams to
/// the socket of $NOTIFY_SOCKET (sd_notify). Without such a manager nobody is told anything.
///
/// The manager takes the daemon for hung when it asked for signs of life ($WATCHDOG_USEC), and gets
/// none for so long.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HC_SV_NOTIFY_STATUS_MAX = 160 }; ///< bytes of a status with its terminator

struct hc_sv_notify {
    int socket;          ///< the connected socket; -1: nobody is told
    uint64_t alive_each; ///< us between two signs of life; 0: nobody asked for them
    uint64_t alive_us;   ///< when the newest was sent
    bool is_ready;
    bool reloads; ///< the manager was told that a reload runs
    char status[HC_SV_NOTIFY_STATUS_MAX];
};

/// Reads the variables of the environment, and removes them: no child shall speak for the daemon.
/// False: they are wrong, and `why` is a sentence.
bool hc_sv_notify_open(struct hc_sv_notify *notify, char *why, size_t why_size);

/// Tells that the daemon serves, once.
void hc_sv_notify_ready(struct hc_sv_notify *notify);

/// Tells that the daemon ends.
void hc_sv_notify_stopping(struct hc_sv_notify *notify);

/// Tells that a reload began, or (`reloads` false) ended. Again: nothing more.
void hc_sv_notify_reload(struct hc_sv_notify *notify, bool reloads);

/// Gives a sign of life, if one is due. Call it several times in the interval.
void hc_sv_notify_alive(struct hc_sv_notify *notify, uint64_t now_us);

/// Tells the status, a line for people, if it has changed.
void hc_sv_notify_status(struct hc_sv_notify *notify, const char *status);

/// Closes the socket.
void hc_sv_notify_close(struct hc_sv_notify *notify);
