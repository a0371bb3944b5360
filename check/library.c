/// Owns the lists of functions and instructions that a rule may not use, and finds variables.

#include "check/library.h"

#include "common/programs/elf.h"
#include "common/programs/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME = 256,
    LINE = 1024,
    ADDED = 8, ///< bytes that the compiler adds to a section of variables
};

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

bool hc_ck_library_imports(const char *path, struct hc_ck_faults *faults) {
    struct hc_elf elf;
    struct hc_elf_symbols symbols;
    ElfW(Sym) symbol;
    const char *name;
    if (!hc_elf_open(&elf, path))
        return false;
    bool good = hc_elf_symbols(&elf, SHT_DYNSYM, &symbols);
    while (good && (name = hc_elf_next_symbol(&symbols, &symbol)) != NULL)
        if (symbol.st_shndx == SHN_UNDEF && name[0] != '\0')
            check_import(name, faults);
    hc_elf_close(&elf);
    return good;
}

// ---- Variables ----------------------------------------------------------------------------------

/// Sections that are written, but by the linker alone, while it loads the plugin.
static const char *const loaded[] = {".data.rel.ro", ".init_array", ".fini_array",    ".ctors",
                                     ".dtors",       ".dynamic",    ".got",           ".plt",
                                     ".jcr",         ".eh_frame",   ".tm_clone_table"};

/// Whether section `index` has variables that code may write. Sets its name.
static bool is_written(const struct hc_elf *elf, unsigned index, const char **name, size_t *size) {
    ElfW(Shdr) section;
    *name = hc_elf_section(elf, index, &section);
    if (*name == NULL || (section.sh_flags & (SHF_WRITE | SHF_ALLOC)) != (SHF_WRITE | SHF_ALLOC))
        return false;
    for (size_t i = 0; i < sizeof(loaded) / sizeof(*loaded); i++)
        if (strncmp(*name, loaded[i], strlen(loaded[i])) == 0)
            return false;
    *size = section.sh_size;
    return true;
}

/// Whether the compiler has added a variable: its name is reserved, or its source is of the
/// compiler's own objects.
static bool is_added(const char *name, const char *source) {
    size_t length = strlen(source);
    return strncmp(name, "__", 2) == 0 || strcmp(source, "crtstuff.c") == 0 ||
           (length > 2 && strcmp(source + length - 2, ".o") == 0);
}

/// Writes the source file of a variable, and its line if nm (of binutils) knows it.
static void find_line(const char *path, const ElfW(Sym) * symbol, const char *source,
                      char text[static NAME]) {
    char program[] = "nm", option[] = "-l", line[LINE];
    char *arguments[] = {program, option, (char *)path, NULL};
    struct hc_lines lines;
    snprintf(text, NAME, "%s", source);
    if (!hc_lines_open(&lines, arguments))
        return;
    while (hc_lines_next(&lines, line, sizeof(line))) {
        const char *place = strchr(line, '\t');
        if (place == NULL || strtoull(line, NULL, 16) != symbol->st_value)
            continue;
        const char *slash = strrchr(place, '/');
        snprintf(text, NAME, "%s", slash != NULL ? slash + 1 : place + 1);
    }
    hc_lines_close(&lines);
}

static void report_variable(const char *path, const char *name, const ElfW(Sym) * symbol,
                            const char *source, struct hc_ck_faults *faults) {
    char where[NAME], line[NAME];
    size_t length = strlen(name); // of a static variable in a function the compiler makes NAME.0
    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    if (length < 2 || name[length] == '\0' || name[length - 1] != '.')
        length = strlen(name) + 1;
    snprintf(where, sizeof(where), "%s %zx", name, (size_t)symbol->st_value);
    if (hc_ck_faults_have(faults, HC_CK_VARIABLE, where))
        return;
    find_line(path, symbol, source, line);
    hc_ck_fault(faults, HC_CK_VARIABLE, where,
                "the plugin has a variable, %.*s (%zu bytes%s%s): what one call leaves there, the "
                "next one finds, which may be of another tick or world; declare it const, or make "
                "it a field",
                (int)length - 1, name, (size_t)symbol->st_size, line[0] != '\0' ? ", " : "", line);
}

/// Reports the variables among the symbols of a table.
static void check_symbols(const char *path, const struct hc_elf *elf,
                          struct hc_elf_symbols *symbols, struct hc_ck_faults *faults) {
    const char *name, *section, *source = "";
    ElfW(Sym) symbol;
    size_t size;
    while ((name = hc_elf_next_symbol(symbols, &symbol)) != NULL) {
        unsigned type = ELF64_ST_TYPE(symbol.st_info);
        bool local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
        if (type == STT_FILE)
            source = name;
        if ((type == STT_OBJECT || type == STT_TLS) && symbol.st_size > 0 &&
            is_written(elf, symbol.st_shndx, &section, &size) &&
            !is_added(name, local ? source : ""))
            report_variable(path, name, &symbol, local ? source : "", faults);
    }
}

/// Reports sections with more than the few bytes that every plugin has, by their names.
static void check_sections(const struct hc_elf *elf, struct hc_ck_faults *faults) {
    const char *name = "";
    size_t size;
    for (unsigned i = 1; i == 1 || name != NULL; i++)
        if (is_written(elf, i, &name, &size) && size > ADDED)
            hc_ck_fault(faults, HC_CK_VARIABLE, name,
                        "the plugin has variables, %zu bytes in the section %s: it was stripped of "
                        "the symbols that would name them",
                        size, name);
}

bool hc_ck_library_variables(const char *path, struct hc_ck_faults *faults) {
    struct hc_elf elf;
    struct hc_elf_symbols symbols;
    if (!hc_elf_open(&elf, path))
        return false;
    bool named = hc_elf_symbols(&elf, SHT_SYMTAB, &symbols);
    if (named || hc_elf_symbols(&elf, SHT_DYNSYM, &symbols))
        check_symbols(path, &elf, &symbols, faults);
    if (!named)
        check_sections(&elf, faults);
    hc_elf_close(&elf);
    return named || hc_ck_faults_have(faults, HC_CK_VARIABLE, NULL);
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
static uint64_t check_lines(struct hc_lines *lines, struct hc_ck_faults *faults) {
    char line[LINE], function[NAME] = "?", instruction[NAME];
    uint64_t count = 0;
    while (hc_lines_next(lines, line, sizeof(line))) {
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
    char program[] = "objdump", disassemble[] = "-d", short_lines[] = "--no-show-raw-insn";
    char *arguments[] = {program, disassemble, short_lines, (char *)path, NULL};
    struct hc_lines lines;
    if (!KNOWS_INSTRUCTIONS || !hc_lines_open(&lines, arguments))
        return false;
    uint64_t count = check_lines(&lines, faults);
    return hc_lines_close(&lines) && count > 0;
}
