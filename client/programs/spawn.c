/// Owns the process of the spawned server and the pipes from it.
#define _GNU_SOURCE // pipe2

#include "client/programs/spawn.h"

#include "common/elapsed.h"
#include "common/programs/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    START_MS = 10000,                     ///< longest time until the server listens
    END_MS = 10000,                       ///< longest time until it ends
    REPORT_DESCRIPTOR = 3,                ///< number in the server's process
    ARGUMENTS_MAX = HC_CL_WORDS_MAX + 32, ///< of the server
    LINE_MAX_BYTES = 4096,                ///< of the log
    REPORT_MAX =
        1 << 16, ///< bytes; a pipe holds as many, so the server never waits for this process
};

bool hc_cl_spawn_path(char *path, size_t size) {
    static const char name[] = "hindcastd";
    ssize_t length = readlink("/proc/self/exe", path, size - sizeof(name));
    if (length <= 0)
        return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return false;
    memcpy(slash + 1, name, sizeof(name));
    return true;
}

/// In the new process: becomes the server, or ends with 127.
static void become_server(const char *path, int output, int report, FILE *log,
                          const struct hc_cl_spawn_config *config) {
    char clients[16], seed[24], rate[16];
    snprintf(clients, sizeof(clients), "%" PRIu32, config->clients);
    snprintf(seed, sizeof(seed), "%" PRIu64, config->seed);
    snprintf(rate, sizeof(rate), "%" PRIu32, config->snapshot_rate);
    // The terminal's interrupt is for the load test, which then ends the server itself.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    // Each may already have the number that the other one needs.
    output = fcntl(output, F_DUPFD, REPORT_DESCRIPTOR + 1);
    report = fcntl(report, F_DUPFD, REPORT_DESCRIPTOR + 1);
    if (dup2(output, STDOUT_FILENO) < 0 || (log != NULL && dup2(fileno(log), STDERR_FILENO) < 0) ||
        dup2(report, REPORT_DESCRIPTOR) < 0)
        _exit(127);
    close(output);
    close(report);
    const char *arguments[ARGUMENTS_MAX + 1] = {
        "hindcastd",     "--dev",     "--bind",          "127.0.0.1", "--port",      "0",
        "--max-clients", clients,     "--seed",          seed,        "--log-level", "warn",
        "--json",        "/dev/fd/3", "--snapshot-rate", rate};
    size_t at = 0;
    while (arguments[at] != NULL)
        at++;
    if (config->game != NULL) {
        arguments[at++] = "--game";
        arguments[at++] = config->game;
    }
    if (log != NULL) {
        static const char *const more[] = {"--log-level", "info",           "--log-format",
                                           "json",        "--status-every", "1"};
        memcpy(&arguments[at], more, sizeof(more));
        at += sizeof(more) / sizeof(*more);
    }
    // The last of an option that is given twice counts.
    for (unsigned i = 0; config->arguments != NULL && i < config->arguments->count; i++)
        arguments[at++] = config->arguments->all[i];
    execv(path, (char *const *)arguments);
    fprintf(stderr, "%s: %s: %s\n", config->program, path, strerror(errno));
    _exit(127);
}

static uint64_t now_ms(void) {
    return hc_clock_us() / 1000;
}

/// Reads until the end, the character `stop` (-1: none), `size - 1` bytes or the deadline.
/// Terminates the text and returns its length.
static size_t read_until(int descriptor, char *text, size_t size, int stop, uint64_t deadline_ms) {
    size_t length = 0;
    while (length + 1 < size) {
        struct pollfd wait = {.fd = descriptor, .events = POLLIN};
        uint64_t left = hc_since(now_ms(), deadline_ms);
        if (left == 0 || (poll(&wait, 1, (int)left) < 0 && errno != EINTR))
            break;
        if (wait.revents == 0)
            continue;
        ssize_t got = read(descriptor, text + length, stop < 0 ? size - 1 - length : 1);
        if (got <= 0)
            break;
        length += (size_t)got;
        if (stop >= 0 && text[length - 1] == stop)
            break;
    }
    text[length] = '\0';
    return length;
}

/// Waits until the process ends, and kills it at the deadline. Returns its status, or -1.
static int wait_for(pid_t pid, uint64_t deadline_ms) {
    int status = -1;
    pid_t done;
    while ((done = waitpid(pid, &status, WNOHANG)) == 0 && now_ms() < deadline_ms)
        hc_clock_sleep(10000);
    if (done == pid)
        return status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return -1;
}

bool hc_cl_spawn_start(struct hc_cl_spawn *server, const struct hc_cl_spawn_config *config,
                       char *why, size_t why_size) {
    char path[4096], line[128];
    int output[2], report[2];
    unsigned port = 0;
    if (!hc_cl_spawn_path(path, sizeof(path)) || pipe2(output, O_CLOEXEC) != 0) {
        snprintf(why, why_size, "--spawn: this program's own place is not known");
        return false;
    }
    server->log = config->keeps_log ? tmpfile() : NULL;
    if (config->keeps_log && server->log == NULL) {
        snprintf(why, why_size, "--spawn: no file for the server's log: %s", strerror(errno));
        return false;
    }
    if (pipe2(report, O_CLOEXEC) != 0 || (server->pid = fork()) < 0) {
        snprintf(why, why_size, "--spawn: %s", strerror(errno));
        return false;
    }
    if (server->pid == 0)
        become_server(path, output[1], report[1], server->log, config);
    close(output[1]);
    close(report[1]);
    server->output = output[0];
    server->report = report[0];

    read_until(server->output, line, sizeof(line), '\n', now_ms() + START_MS);
    if (sscanf(line, "listening on 127.0.0.1:%5u", &port) == 1 && port > 0 && port <= 65535) {
        snprintf(server->port, sizeof(server->port), "%u", port);
        return true;
    }
    snprintf(why, why_size, "--spawn: the server %s did not start", path);
    kill(server->pid, SIGTERM);
    wait_for(server->pid, now_ms() + END_MS);
    close(server->output);
    close(server->report);
    json_decref(hc_cl_spawn_status(server));
    return false;
}

json_t *hc_cl_spawn_stop(struct hc_cl_spawn *server, char *why, size_t why_size) {
    char *text = malloc(REPORT_MAX);
    json_t *report = NULL;
    uint64_t deadline = now_ms() + END_MS;
    kill(server->pid, SIGTERM);
    if (text != NULL) {
        read_until(server->report, text, REPORT_MAX, -1, deadline);
        report = json_loads(text, 0, NULL);
    }
    free(text);
    int status = wait_for(server->pid, deadline);
    close(server->output);
    close(server->report);
    // 1 is the status of a run whose verdict is NOT OK.
    if (report != NULL && status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        return report;
    if (status >= 0 && WIFSIGNALED(status))
        snprintf(why, why_size, "the server was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) != 0)
        snprintf(why, why_size, "the server ended with status %d and no report",
                 WEXITSTATUS(status));
    else
        snprintf(why, why_size, "the server gave no report");
    json_decref(report);
    return NULL;
}

/// Prints a line of the log as a sentence; `text` is the line itself, for one that is no JSON.
static void print_line(const json_t *line, const char *text) {
    const char *event = json_string_value(json_object_get(line, "event"));
    const char *why = json_string_value(json_object_get(line, "why"));
    if (event == NULL)
        fputs(text, stderr);
    else
        fprintf(stderr, "hindcastd: %s%s%s\n", event, why != NULL ? ": " : "",
                why != NULL ? why : "");
}

json_t *hc_cl_spawn_status(struct hc_cl_spawn *server) {
    json_t *lines = json_array();
    char text[LINE_MAX_BYTES];
    if (server->log == NULL || fseek(server->log, 0, SEEK_SET) != 0) {
        json_decref(lines);
        return NULL;
    }
    while (fgets(text, sizeof(text), server->log) != NULL) {
        json_t *line = json_loads(text, 0, NULL);
        const char *event = json_string_value(json_object_get(line, "event"));
        const char *level = json_string_value(json_object_get(line, "level"));
        if (event == NULL || level == NULL || strcmp(level, "warn") == 0 ||
            strcmp(level, "error") == 0)
            print_line(line, text);
        else if (strcmp(event, "status") == 0)
            json_array_append(lines, line);
        json_decref(line);
    }
    fclose(server->log);
    server->log = NULL;
    return lines;
}
