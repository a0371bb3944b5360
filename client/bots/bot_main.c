/// hindcast-bot: bots that play on a server until a signal.

#include "client/bots/program.h"

int main(int argc, char **argv) {
    return hc_cl_program_run(HC_CL_OPTIONS_BOT, HC_VERSION, argc, argv);
}
