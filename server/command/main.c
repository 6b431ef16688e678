/* apsp: this process is alone. */
#include "server/command/apsp.h"

int main(int argc, char **argv)
{
    return apsp_run(NULL, argc, argv);
}
