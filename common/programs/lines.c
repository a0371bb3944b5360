/// Owns the programs of other packages that a program asks, such as addr2line.
#define _GNU_SOURCE

#include "common/programs/lines.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool hc_lines_open(struct hc_lines *lines, char *const arguments[]) {
    extern char **environ;
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool runs = posix_spawnp(&lines->pid, arguments[0], &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    lines->output = runs ? fdopen(ends[0], "r") : NULL;
    if (lines->output != NULL)
        return true;
    close(ends[0]);
    if (runs)
        waitpid(lines->pid, NULL, 0);
    return false;
}

bool hc_lines_next(struct hc_lines *lines, char *line, size_t size) {
    if (fgets(line, (int)size, lines->output) == NULL)
        return false;
    size_t length = strcspn(line, "\n");
    if (line[length] == '\0') // the rest does not fit
        for (int c = getc(lines->output); c != EOF && c != '\n';)
            c = getc(lines->output);
    line[length] = '\0';
    return true;
}

bool hc_lines_close(struct hc_lines *lines) {
    int status = -1;
    fclose(lines->output);
    waitpid(lines->pid, &status, 0);
    return status == 0;
}
