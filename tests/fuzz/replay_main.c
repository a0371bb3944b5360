/// Runs a fuzz target on stored inputs, files or directories, in builds without libFuzzer.
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    INPUT_MAX = 1 << 20, ///< bytes; far more than any file of a corpus
    PATH_SIZE = 4096,
};

/// Runs the target on a copy of the file's size, so that a sanitizer notices reads behind its end.
static bool replay_file(const char *path) {
    static uint8_t buffer[INPUT_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return false;
    }
    size_t size = fread(buffer, 1, sizeof buffer, file);
    bool whole = feof(file) && !ferror(file);
    fclose(file);
    uint8_t *input = whole ? malloc(size > 0 ? size : 1) : NULL;
    if (input == NULL) {
        fprintf(stderr, "%s: unreadable, or longer than %d bytes\n", path, INPUT_MAX);
        return false;
    }
    memcpy(input, buffer, size);
    fprintf(stderr, "replay %s\n", path);
    LLVMFuzzerTestOneInput(input, size);
    free(input);
    return true;
}

/// Replays every file of `directory`, not its subdirectories; adds their number to `count`.
static bool replay_directory(const char *directory, unsigned *count) {
    DIR *entries = opendir(directory);
    if (entries == NULL) {
        perror(directory);
        return false;
    }
    bool ok = true;
    struct dirent *entry;
    while (ok && (entry = readdir(entries)) != NULL) {
        char path[PATH_SIZE];
        int length = snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        struct stat status;
        if (length < 0 || (size_t)length >= sizeof path || stat(path, &status) != 0) {
            fprintf(stderr, "%s: cannot be read\n", entry->d_name);
            ok = false;
        } else if (S_ISREG(status.st_mode)) {
            ok = replay_file(path);
            (*count)++;
        }
    }
    closedir(entries);
    return ok;
}

int main(int argc, char **argv) {
    unsigned count = 0;
    for (int i = 1; i < argc; i++) {
        struct stat status;
        bool directory = stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode);
        if (directory ? !replay_directory(argv[i], &count) : !replay_file(argv[i]))
            return 1;
        count += !directory;
    }
    printf("%u inputs replayed\n", count);
    if (count == 0)
        fprintf(stderr, "usage: %s FILE|DIRECTORY...\n", argv[0]);
    return count > 0 ? 0 : 2;
}
