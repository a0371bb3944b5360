/// Owns the table of the commands of the admin face.
#include "server/daemon/admin_commands.h"

#include "hindcast/check.h"

#include <stdio.h>
#include <string.h>

enum { GET, POST };

#define ROW(id, name_, method, parameters_, sentence_)                                             \
    {.name = (name_),                                                                              \
     .changes = (method) == POST,                                                                  \
     .parameters = (parameters_),                                                                  \
     .sentence = (sentence_)},
const struct hc_sv_admin_command hc_sv_admin_commands[HC_SV_ADMIN_COMMAND_COUNT] = {
    HC_SV_ADMIN_COMMANDS(ROW)};

enum hc_sv_admin_command_id hc_sv_admin_command_of(const char *name) {
    unsigned id = 0;
    while (id < HC_SV_ADMIN_COMMAND_COUNT && strcmp(hc_sv_admin_commands[id].name, name) != 0)
        id++;
    return (enum hc_sv_admin_command_id)id;
}

unsigned hc_sv_admin_parameters(const struct hc_sv_admin_command *command,
                                struct hc_sv_admin_parameter out[static HC_SV_ADMIN_PARAMETERS]) {
    unsigned count = 0;
    for (const char *at = command->parameters; *at != '\0'; at += strspn(at, " ]")) {
        HC_ASSERT(count < HC_SV_ADMIN_PARAMETERS);
        struct hc_sv_admin_parameter *parameter = &out[count++];
        parameter->optional = *at == '[';
        at += parameter->optional;
        size_t size = strcspn(at, " ]");
        snprintf(parameter->name, sizeof(parameter->name), "%.*s", (int)size, at);
        parameter->is_text = strcmp(parameter->name, "text") == 0 ||
                             strcmp(parameter->name, "where") == 0 ||
                             strcmp(parameter->name, "file") == 0;
        at += size;
    }
    return count;
}
