/// hindcast-load: many bots, and the report of what they cost and how well it went.

#include "client/bots/program.h"

int main(int argc, char **argv) {
    return hc_cl_program_run(HC_CL_OPTIONS_LOAD, HC_VERSION, argc, argv);
}
