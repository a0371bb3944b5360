/// Owns the runs of `hindcastd token`.
#define _GNU_SOURCE // pipe2

#include "client/programs/key_tokens.h"

#include "client/programs/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    ONCE_MAX = 4096, ///< tokens of one run
    ARGUMENTS_MAX = 16,
    PATH_SIZE = 4096,
};

/// In the new process: becomes `hindcastd token`, or ends with 127.
static void become_issuer(const char *path, const struct hc_cl_key_tokens *wish, uint32_t count,
                          int output) {
    char number[16], life[24], audience[24], match[16];
    uint64_t life_s =
        wish->life_s < HC_CL_KEY_TOKENS_LIFE_MAX_S ? wish->life_s : HC_CL_KEY_TOKENS_LIFE_MAX_S;
    snprintf(number, sizeof(number), "%" PRIu32, count);
    snprintf(life, sizeof(life), "%" PRIu64, life_s);
    snprintf(audience, sizeof(audience), "%" PRIu64, wish->audience);
    snprintf(match, sizeof(match), "%" PRIu32, wish->match);
    const char *arguments[ARGUMENTS_MAX] = {"hindcastd",  "token",  "--key-file", wish->key_file,
                                            "--count",    number,   "--life",     life,
                                            "--audience", audience, "--match",    match};
    if (wish->game != NULL) {
        arguments[12] = "--game";
        arguments[13] = wish->game;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (dup2(output, STDOUT_FILENO) >= 0)
        execv(path, (char *const *)arguments);
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    _exit(127);
}

/// Reads the lines of one run; false: one of them is no token, or there are fewer.
static bool read_tokens(int descriptor, struct hc_credential *tokens, uint32_t count) {
    char line[HC_CREDENTIAL_TEXT_SIZE + 3];
    FILE *lines = fdopen(descriptor, "r");
    uint32_t read = 0;
    if (lines == NULL) {
        close(descriptor);
        return false;
    }
    while (read < count && fgets(line, sizeof(line), lines) != NULL &&
           hc_token_read_credential(line, strlen(line), &tokens[read]) == HC_OK)
        read++;
    fclose(lines);
    return read == count;
}

/// One run, of at most ONCE_MAX tokens.
static bool issue_some(const struct hc_cl_key_tokens *wish, const char *path,
                       struct hc_credential *tokens, uint32_t count) {
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        become_issuer(path, wish, count, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    bool good = read_tokens(ends[0], tokens, count);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool hc_cl_key_tokens_issue(const struct hc_cl_key_tokens *wish, struct hc_credential *tokens,
                            uint32_t count, char *why, size_t why_size) {
    char path[PATH_SIZE];
    bool good = hc_cl_spawn_path(path, sizeof(path));
    for (uint32_t done = 0; good && done < count;) {
        uint32_t some = count - done < ONCE_MAX ? count - done : ONCE_MAX;
        good = issue_some(wish, path, tokens + done, some);
        done += some;
    }
    if (!good)
        snprintf(why, why_size, "--key-file '%s': hindcastd beside this program issued no tokens",
                 wish->key_file);
    return good;
}
