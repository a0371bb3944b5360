/// Owns the reading of program files. Each place that a file names is compared with its size.
#define _GNU_SOURCE

#include "common/programs/elf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool header_of(const struct hc_elf *elf, ElfW(Ehdr) * header) {
    if (elf->size < sizeof(*header))
        return false;
    memcpy(header, elf->bytes, sizeof(*header));
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_shentsize == sizeof(ElfW(Shdr)) && header->e_shoff <= elf->size &&
           (size_t)header->e_shnum * sizeof(ElfW(Shdr)) <= elf->size - header->e_shoff;
}

bool hc_elf_open(struct hc_elf *elf, const char *path) {
    struct stat status;
    ElfW(Ehdr) header;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool good = descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size > 0;
    void *bytes = good ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0)
                       : MAP_FAILED;
    if (descriptor >= 0)
        close(descriptor);
    if (bytes == MAP_FAILED)
        return false;
    *elf = (struct hc_elf){bytes, (size_t)status.st_size};
    if (header_of(elf, &header))
        return true;
    hc_elf_close(elf);
    return false;
}

void hc_elf_close(struct hc_elf *elf) {
    munmap((void *)elf->bytes, elf->size);
    *elf = (struct hc_elf){NULL, 0};
}

/// Reads the header of section `index`; false: there is no such section, or it ends behind the
/// file.
static bool read_section(const struct hc_elf *elf, unsigned index, ElfW(Shdr) * section) {
    ElfW(Ehdr) header;
    if (!header_of(elf, &header) || index >= header.e_shnum)
        return false;
    memcpy(section, elf->bytes + header.e_shoff + index * sizeof(*section), sizeof(*section));
    return section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= elf->size && section->sh_size <= elf->size - section->sh_offset);
}

/// The texts of a section, which end with a zero; NULL: they do not, or it has none.
static const char *texts_of(const struct hc_elf *elf, unsigned index, size_t *size) {
    ElfW(Shdr) section;
    if (!read_section(elf, index, &section) || section.sh_type != SHT_STRTAB ||
        section.sh_size == 0 || elf->bytes[section.sh_offset + section.sh_size - 1] != '\0')
        return NULL;
    *size = section.sh_size;
    return (const char *)elf->bytes + section.sh_offset;
}

const char *hc_elf_section(const struct hc_elf *elf, unsigned index, ElfW(Shdr) * section) {
    ElfW(Ehdr) header;
    size_t size = 0;
    if (!header_of(elf, &header) || !read_section(elf, index, section))
        return NULL;
    const char *names = texts_of(elf, header.e_shstrndx, &size);
    return names != NULL && section->sh_name < size ? names + section->sh_name : NULL;
}

bool hc_elf_symbols(const struct hc_elf *elf, uint32_t type, struct hc_elf_symbols *symbols) {
    ElfW(Shdr) table;
    for (unsigned i = 0; read_section(elf, i, &table); i++) {
        if (table.sh_type != type)
            continue;
        symbols->at = elf->bytes + table.sh_offset;
        symbols->end = symbols->at + table.sh_size;
        symbols->names = texts_of(elf, table.sh_link, &symbols->names_size);
        return symbols->names != NULL;
    }
    return false;
}

const char *hc_elf_next_symbol(struct hc_elf_symbols *symbols, ElfW(Sym) * symbol) {
    if ((size_t)(symbols->end - symbols->at) < sizeof(*symbol))
        return NULL;
    memcpy(symbol, symbols->at, sizeof(*symbol));
    symbols->at += sizeof(*symbol);
    return symbol->st_name < symbols->names_size ? symbols->names + symbol->st_name : NULL;
}
