/// hindcast-load: many bots, and a report of their cost and of the quality of play.

#include "client/bots/program.h"

#include <argp.h>

int main(int argc, char **argv) {
    argp_program_version = "hindcast-load " HC_VERSION_AND_COMMIT;
    return hc_cl_program_run(HC_CL_OPTIONS_LOAD, HC_VERSION, argc, argv);
}
