/// hindcast-view: a window in which people or bots play.

#include "client/view/view.h"

#include <argp.h>

int main(int argc, char **argv) {
    argp_program_version = "hindcast-view " HC_VERSION_AND_COMMIT;
    return hc_cl_view_run(HC_VERSION, argc, argv);
}
