/// Owns the lists of functions and instructions that a rule may not use.
#define _GNU_SOURCE

#include "check/library.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAME = 256, LINE = 1024 };

/// Imported functions that tell what is wrong.
static const struct {
    enum hc_ck_kind kind;
    const char *names; ///< each between blanks
} banned[] = {
    {HC_CK_ALLOCATION,
     " malloc calloc realloc free reallocarray posix_memalign aligned_alloc memalign "
     "valloc strdup strndup mmap brk sbrk "},
    {HC_CK_CLOCK,
     " time clock clock_gettime gettimeofday timespec_get times ftime localtime gmtime "
     "nanosleep usleep sleep "},
    {HC_CK_RANDOM, " rand rand_r srand random srandom drand48 lrand48 mrand48 erand48 arc4random "
                   "arc4random_uniform getrandom getentropy "},
};

/// Functions that every plugin may import: those of memory, and those that compilers and linkers
/// call. Other names must begin with one of the prefixes.
static const char allowed[] =
    " memcpy memmove memset memcmp __memcpy_chk __memmove_chk __memset_chk "
    "strlen strcmp strncmp abs labs llabs abort __stack_chk_fail "
    "__cxa_finalize __gmon_start__ __assert_fail ";
static const char *const prefixes[] = {"hc_",          "_ITM_",   "__asan_", "__ubsan_",
                                       "__sanitizer_", "__tsan_", "__gcov_"};

static bool is_listed(const char *list, const char *name) {
    char word[NAME + 2];
    snprintf(word, sizeof(word), " %s ", name);
    return strstr(list, word) != NULL;
}

static void check_import(const char *name, struct hc_ck_faults *faults) {
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return;
    if (is_listed(allowed, name))
        return;
    for (size_t i = 0; i < sizeof(banned) / sizeof(*banned); i++)
        if (is_listed(banned[i].names, name)) {
            hc_ck_fault(faults, banned[i].kind, name,
                        "the plugin imports %s: a rule neither allocates nor reads a clock nor "
                        "draws numbers other than hc_scene_random's",
                        name);
            return;
        }
    hc_ck_fault(faults, HC_CK_FUNCTION, name,
                "the plugin imports %s: a rule calls only hc_ functions, memcpy, memset, memmove "
                "and memcmp, so that it is the same on every machine",
                name);
}

/// Checks the undefined symbols of one table; false: a place is outside of the file.
static bool check_table(const uint8_t *file, size_t size, const ElfW(Shdr) * table,
                        const ElfW(Shdr) * strings, struct hc_ck_faults *faults) {
    if (table->sh_offset + table->sh_size > size || strings->sh_offset + strings->sh_size > size ||
        strings->sh_size == 0 || file[strings->sh_offset + strings->sh_size - 1] != '\0')
        return false;
    for (size_t at = 0; at + sizeof(ElfW(Sym)) <= table->sh_size; at += sizeof(ElfW(Sym))) {
        ElfW(Sym) symbol;
        memcpy(&symbol, file + table->sh_offset + at, sizeof(symbol));
        if (symbol.st_name >= strings->sh_size)
            return false;
        if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0)
            check_import((const char *)file + strings->sh_offset + symbol.st_name, faults);
    }
    return true;
}

/// Checks a whole file in memory.
static bool check_file(const uint8_t *file, size_t size, struct hc_ck_faults *faults) {
    ElfW(Ehdr) header;
    if (size < sizeof(header))
        return false;
    memcpy(&header, file, sizeof(header));
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(ElfW(Shdr)) ||
        header.e_shoff + (size_t)header.e_shnum * sizeof(ElfW(Shdr)) > size)
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        ElfW(Shdr) table, strings;
        memcpy(&table, file + header.e_shoff + i * sizeof(table), sizeof(table));
        if (table.sh_type != SHT_DYNSYM || table.sh_link >= header.e_shnum)
            continue;
        memcpy(&strings, file + header.e_shoff + table.sh_link * sizeof(strings), sizeof(strings));
        return check_table(file, size, &table, &strings, faults);
    }
    return false;
}

bool hc_ck_library_imports(const char *path, struct hc_ck_faults *faults) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || status.st_size <= 0) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    size_t size = (size_t)status.st_size;
    void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (file == MAP_FAILED)
        return false;
    bool good = check_file(file, size, faults);
    munmap(file, size);
    return good;
}

// ---- Floating point -----------------------------------------------------------------------------

/// Whether is_float knows the instructions of this machine.
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
enum { KNOWS_INSTRUCTIONS = true };
#else
enum { KNOWS_INSTRUCTIONS = false };
#endif

/// Whether an instruction computes with floating point. Moves are none: compilers copy integers
/// through the same registers.
static bool is_float(const char *instruction) {
#if defined(__x86_64__) || defined(__i386__)
    static const char *const stems[] = {"add", "sub",   "mul",   "div",   "sqrt",
                                        "min", "max",   "ucomi", "comi",  "round",
                                        "rcp", "rsqrt", "cmp",   "fmadd", "fmsub"};
    const char *name = instruction[0] == 'v' ? instruction + 1 : instruction;
    size_t length = strlen(instruction);
    if (strncmp(name, "cvt", 3) == 0)
        return true;
    if (instruction[0] == 'f') // of the x87; `fs` is a segment
        return strcmp(instruction, "fs") != 0 && strncmp(instruction, "fence", 5) != 0;
    if (length < 5 || strchr("sp", instruction[length - 2]) == NULL ||
        strchr("sd", instruction[length - 1]) == NULL)
        return false;
    for (size_t i = 0; i < sizeof(stems) / sizeof(*stems); i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return true;
    return strncmp(name, "fnmadd", 6) == 0 || strncmp(name, "fnmsub", 6) == 0;
#else // aarch64
    static const char *const names[] = {"fadd", "fsub",  "fmul",  "fnmul", "fdiv",  "fsqrt",
                                        "fcmp", "fcmpe", "fmadd", "fmsub", "scvtf", "ucvtf",
                                        "fmin", "fmax",  "fabs",  "fneg"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(instruction, names[i]) == 0)
            return true;
    return strncmp(instruction, "fcvt", 4) == 0 || strncmp(instruction, "frint", 5) == 0;
#endif
}

/// Checks the lines of a disassembly. Returns the number of instructions.
static uint64_t check_lines(FILE *lines, struct hc_ck_faults *faults) {
    char line[LINE], function[NAME] = "?", instruction[NAME];
    uint64_t count = 0;
    while (fgets(line, sizeof(line), lines) != NULL) {
        const char *colon = strchr(line, ':');
        if (line[0] != ' ' && sscanf(line, "%*x <%255[^>]>:", function) == 1)
            continue;
        if (line[0] != ' ' || colon == NULL || sscanf(colon + 1, " %255s", instruction) != 1)
            continue;
        count++;
        if (is_float(instruction))
            hc_ck_fault(faults, HC_CK_FLOAT, function,
                        "the function %s computes with floating point (%s), whose results depend "
                        "on the machine",
                        function, instruction);
    }
    return count;
}

bool hc_ck_library_floats(const char *path, struct hc_ck_faults *faults) {
    extern char **environ;
    int ends[2], status = -1;
    pid_t pid;
    posix_spawn_file_actions_t actions;
    char program[] = "objdump", disassemble[] = "-d", short_lines[] = "--no-show-raw-insn";
    char *arguments[] = {program, disassemble, short_lines, (char *)path, NULL};
    if (!KNOWS_INSTRUCTIONS || pipe(ends) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int failed = posix_spawnp(&pid, "objdump", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *lines = failed == 0 ? fdopen(ends[0], "r") : NULL;
    uint64_t count = lines != NULL ? check_lines(lines, faults) : 0;
    if (lines != NULL)
        fclose(lines);
    else
        close(ends[0]);
    if (failed == 0)
        waitpid(pid, &status, 0);
    return status == 0 && count > 0;
}
