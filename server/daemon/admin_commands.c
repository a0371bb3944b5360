/// Owns the table of the commands of the admin face.
#include "server/daemon/admin_commands.h"

#include <string.h>

enum { GET, POST };

#define ROW(id, name_, method, parameter_, sentence_)                                              \
    {.name = (name_),                                                                              \
     .changes = (method) == POST,                                                                  \
     .parameter = (parameter_),                                                                    \
     .sentence = (sentence_)},
const struct hc_sv_admin_command hc_sv_admin_commands[HC_SV_ADMIN_COMMAND_COUNT] = {
    HC_SV_ADMIN_COMMANDS(ROW)};

enum hc_sv_admin_command_id hc_sv_admin_command_of(const char *name) {
    unsigned id = 0;
    while (id < HC_SV_ADMIN_COMMAND_COUNT && strcmp(hc_sv_admin_commands[id].name, name) != 0)
        id++;
    return (enum hc_sv_admin_command_id)id;
}
