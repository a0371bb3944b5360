/// Owns the messages to the service manager.
#define _GNU_SOURCE // SOCK_CLOEXEC

#include "server/daemon/notify.h"

#include "common/decimal.h"
#include "common/elapsed.h"
#include "common/programs/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    ALIVE_FRACTION = 4, ///< a sign of life comes after 1 / this of the manager's patience
    MESSAGE_MAX = HC_SV_NOTIFY_STATUS_MAX + 32,
};

/// Sends a message. A manager that does not read delays nothing.
static void send_message(const struct hc_sv_notify *notify, const char *message) {
    if (notify->socket >= 0 &&
        send(notify->socket, message, strlen(message), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; // the manager has gone, or asks again by its timeout
}

/// Connects to the manager's socket, a path or @ and an abstract name.
static bool connect_to(struct hc_sv_notify *notify, const char *name, char *why, size_t why_size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof(address.sun_path)) {
        snprintf(why, why_size,
                 "NOTIFY_SOCKET '%s': must be a path from / of at most %zu bytes, or @NAME", name,
                 sizeof(address.sun_path) - 1);
        return false;
    }
    memcpy(address.sun_path, name, length + 1);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    else
        size++;
    notify->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify->socket >= 0 && connect(notify->socket, (struct sockaddr *)&address, size) == 0)
        return true;
    snprintf(why, why_size, "NOTIFY_SOCKET '%s': %s", name, strerror(errno));
    return false;
}

/// Reads how long the manager is patient; 0: it is for ever, or not with this process.
static bool read_patience(uint64_t *patience_us, char *why, size_t why_size) {
    const char *patience = getenv("WATCHDOG_USEC"), *process = getenv("WATCHDOG_PID");
    uint64_t number;
    *patience_us = 0;
    if (process != NULL && hc_decimal_parse(process, 0, &number) != HC_OK) {
        snprintf(why, why_size, "WATCHDOG_PID '%s': must be the number of a process", process);
        return false;
    }
    if (patience == NULL || (process != NULL && number != (uint64_t)getpid()))
        return true;
    if (hc_decimal_parse(patience, 0, patience_us) == HC_OK && *patience_us > 0)
        return true;
    snprintf(why, why_size, "WATCHDOG_USEC '%s': must be a number of microseconds above 0",
             patience);
    return false;
}

bool hc_sv_notify_open(struct hc_sv_notify *notify, char *why, size_t why_size) {
    const char *name = getenv("NOTIFY_SOCKET");
    uint64_t patience_us;
    *notify = (struct hc_sv_notify){.socket = -1};
    bool good = read_patience(&patience_us, why, why_size) &&
                (name == NULL || connect_to(notify, name, why, why_size));
    notify->alive_each = patience_us / ALIVE_FRACTION;
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    return good;
}

void hc_sv_notify_ready(struct hc_sv_notify *notify) {
    if (!notify->is_ready)
        send_message(notify, "READY=1");
    notify->is_ready = true;
}

void hc_sv_notify_stopping(struct hc_sv_notify *notify) {
    send_message(notify, "STOPPING=1");
}

void hc_sv_notify_reload(struct hc_sv_notify *notify, bool reloads) {
    char message[MESSAGE_MAX];
    if (reloads == notify->reloads)
        return;
    notify->reloads = reloads;
    snprintf(message, sizeof(message), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, hc_clock_us());
    send_message(notify, reloads ? message : "READY=1");
}

void hc_sv_notify_alive(struct hc_sv_notify *notify, uint64_t now_us) {
    if (notify->alive_each == 0 || hc_since(notify->alive_us, now_us) < notify->alive_each)
        return;
    notify->alive_us = now_us;
    send_message(notify, "WATCHDOG=1");
}

void hc_sv_notify_status(struct hc_sv_notify *notify, const char *status) {
    char message[MESSAGE_MAX];
    if (notify->socket < 0 || strcmp(status, notify->status) == 0)
        return;
    snprintf(notify->status, sizeof(notify->status), "%s", status);
    snprintf(message, sizeof(message), "STATUS=%s", notify->status);
    send_message(notify, message);
}

void hc_sv_notify_close(struct hc_sv_notify *notify) {
    if (notify->socket >= 0)
        close(notify->socket);
    notify->socket = -1;
}
