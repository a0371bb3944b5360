/// A program file as its linker made it (ELF): its sections and its symbols.
#pragma once

#include <link.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A file in memory.
struct hc_elf {
    const uint8_t *bytes;
    size_t size;
};

/// The symbols of a table that are still to come.
struct hc_elf_symbols {
    const uint8_t *at, *end;
    const char *names;
    size_t names_size;
};

/// Maps the file at `path`; hc_elf_close unmaps it. False: it cannot be read, or is no program file
/// of this machine. A signal handler may call it, and everything below.
bool hc_elf_open(struct hc_elf *elf, const char *path);

/// Unmaps the file.
void hc_elf_close(struct hc_elf *elf);

/// Reads the header of section `index`. Returns its name; NULL: there is no such section.
const char *hc_elf_section(const struct hc_elf *elf, unsigned index, ElfW(Shdr) * section);

/// Begins with the symbols of the table of `type`: SHT_SYMTAB, which has all of them, or
/// SHT_DYNSYM, which has those that the linker needs at run time. False: the file has no such
/// table.
bool hc_elf_symbols(const struct hc_elf *elf, uint32_t type, struct hc_elf_symbols *symbols);

/// Reads the next symbol. Returns its name, which may be empty; NULL: there is none.
const char *hc_elf_next_symbol(struct hc_elf_symbols *symbols, ElfW(Sym) * symbol);
