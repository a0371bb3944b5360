/// hindcast-view: a window in which people or bots play.

#include "client/view/view.h"

int main(int argc, char **argv) {
    return hc_cl_view_run(HC_VERSION, argc, argv);
}
