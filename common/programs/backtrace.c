/// Owns the walk over the calls in progress, and the names of places.
#define _GNU_SOURCE

#include "common/programs/backtrace.h"

#include "common/programs/elf.h"
#include "common/programs/lines.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

enum { NAME = 128, LINE = 1024, PATH = 256 };

struct walk {
    const void **places;
    unsigned count;
};

/// Notes a call. Those before an interrupted one belong to the handler of the signal.
static _Unwind_Reason_Code note_call(struct _Unwind_Context *context, void *argument) {
    struct walk *walk = argument;
    int interrupted = 0;
    uintptr_t place = (uintptr_t)_Unwind_GetIPInfo(context, &interrupted);
    if (interrupted)
        walk->count = 0;
    if (place == 0 || walk->count == HC_PLACES_MAX)
        return _URC_END_OF_STACK;
    // A call returns behind itself, which may be another function.
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the unwinder gives numbers
    walk->places[walk->count++] = (const void *)(place - !interrupted);
    return _URC_NO_REASON;
}

unsigned hc_backtrace(const void *places[HC_PLACES_MAX]) {
    struct walk walk = {places, 0};
    _Unwind_Backtrace(note_call, &walk);
    return walk.count;
}

const void *hc_place_file(const void *place) {
    Dl_info info;
    return dladdr(place, &info) != 0 ? info.dli_fbase : NULL;
}

/// The file of a place.
struct file {
    const char *name; ///< as the linker knows it
    const char *path; ///< by which it can be opened, also by another process
    uint64_t offset;  ///< of the place, as the linker counted
    char own[PATH];
};

/// Names a library that was loaded from a copy in memory (library.h) as its file: the copy's link
/// is
/// "/memfd:pong.so (deleted)".
static void name_copy(struct file *file) {
    if (strncmp(file->path, "/proc/", 6) != 0)
        return;
    ssize_t length = readlink(file->path, file->own, sizeof(file->own) - 1);
    if (length <= 0)
        return;
    file->own[length] = '\0';
    char *colon = strchr(file->own, ':'), *deleted = strstr(file->own, " (deleted)");
    if (deleted != NULL)
        *deleted = '\0';
    if (colon != NULL)
        file->name = colon + 1;
}

/// Finds the file of a place; false: there is none.
static bool find_file(const void *place, struct file *file) {
    Dl_info info;
    if (dladdr(place, &info) == 0 || info.dli_fname == NULL)
        return false;
    file->name = file->path = info.dli_fname;
    file->offset = (uintptr_t)place - (uintptr_t)info.dli_fbase;
    name_copy(file);
    if (info.dli_fbase == hc_place_file(hc_place_of((void (*)(void))find_file))) {
        snprintf(file->own, sizeof(file->own), "/proc/%ld/exe", (long)getpid());
        file->path = file->own; // its name may be none of a file: a shell searches for programs
    }
    return true;
}

/// Writes the name of the function at `offset` to `name`, without what the compiler has appended to
/// it; false: the symbols name none.
static bool find_function(const struct file *file, char name[static NAME]) {
    static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
    struct hc_elf elf;
    struct hc_elf_symbols symbols;
    ElfW(Sym) symbol;
    const char *found = NULL, *next;
    if (!hc_elf_open(&elf, file->path))
        return false;
    for (unsigned i = 0; i < sizeof(tables) / sizeof(*tables) && found == NULL; i++)
        if (hc_elf_symbols(&elf, tables[i], &symbols))
            while (found == NULL && (next = hc_elf_next_symbol(&symbols, &symbol)) != NULL)
                if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value <= file->offset &&
                    file->offset - symbol.st_value < symbol.st_size)
                    found = next;
    if (found != NULL)
        snprintf(name, NAME, "%.*s", (int)strcspn(found, "."), found);
    hc_elf_close(&elf);
    return found != NULL;
}

const char *hc_place_name(const void *place, char *text, size_t size) {
    struct file file;
    char name[NAME];
    if (!find_file(place, &file)) {
        snprintf(text, size, "%p", place);
        return text;
    }
    const char *slash = strrchr(file.name, '/');
    const char *last = slash != NULL ? slash + 1 : file.name;
    if (find_function(&file, name))
        snprintf(text, size, "%s (%s+0x%" PRIx64 ")", name, last, file.offset);
    else
        snprintf(text, size, "%s+0x%" PRIx64, last, file.offset);
    return text;
}

// ---- Lines --------------------------------------------------------------------------------------

/// Reads pairs of lines, a function and its source, the innermost first. Writes the first known one
/// that is no hc_ function to `text`; false: there is none.
static bool choose_line(struct hc_lines *lines, char *text, size_t size) {
    char function[LINE], source[LINE];
    bool found = false;
    while (hc_lines_next(lines, function, sizeof(function)) &&
           hc_lines_next(lines, source, sizeof(source))) {
        const char *slash = strrchr(source, '/');
        char *rest = strchr(source, ' '); // "(discriminator 2)"
        if (rest != NULL)
            *rest = '\0';
        if (found || source[0] == '?' || strchr(source, ':') == NULL ||
            strstr(source, ":?") != NULL || strncmp(function, "hc_", 3) == 0)
            continue;
        snprintf(text, size, "%.*s (%s)", (int)strcspn(function, "."), function,
                 slash != NULL ? slash + 1 : source);
        found = true;
    }
    return found;
}

const char *hc_place_line(const void *place, char *text, size_t size) {
    struct file file;
    struct hc_lines lines;
    char number[32], program[] = "addr2line", options[] = "-fie";
    hc_place_name(place, text, size);
    if (!find_file(place, &file))
        return text;
    snprintf(number, sizeof(number), "0x%" PRIx64, file.offset);
    char *arguments[] = {program, options, (char *)file.path, number, NULL};
    if (hc_lines_open(&lines, arguments)) {
        choose_line(&lines, text, size);
        hc_lines_close(&lines);
    }
    return text;
}
