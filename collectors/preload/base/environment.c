/* Settings in the environment at the program's start, and who runs the program. */
#include "base/environment.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

const char *iotide_setting(char **environment, const char *name) {
    size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

static bool has_kernels_note(const char *at, const char *end) {
    static const char name[] = "Linux";
    while (at + sizeof(ElfW(Nhdr)) + sizeof name <= end) {
        const ElfW(Nhdr) *note = (const void *)at;
        at += sizeof *note;
        if (note->n_type == 0 && note->n_namesz == sizeof name && memcmp(at, name, sizeof name) == 0)
            return true;
        at += ((size_t)note->n_namesz + 3) / 4 * 4 + ((size_t)note->n_descsz + 3) / 4 * 4;
    }
    return false;
}

bool iotide_has_kernels_object(void) {
    const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
    const ElfW(Ehdr) *header = (const void *)base;
    for (unsigned int i = 0; base && i < header->e_phnum; i++) {
        const ElfW(Phdr) *part = (const void *)(base + header->e_phoff + (size_t)i * header->e_phentsize);
        if (part->p_type == PT_NOTE && has_kernels_note(base + part->p_offset, base + part->p_offset + part->p_filesz))
            return true;
    }
    return false;
}
