/// hindcast-bot: bots that play on a server until a signal.

#include "client/bots/program.h"

#include <argp.h>

int main(int argc, char **argv) {
    argp_program_version = "hindcast-bot " HC_VERSION_AND_COMMIT;
    return hc_cl_program_run(HC_CL_OPTIONS_BOT, HC_VERSION, argc, argv);
}
