/* The main function of apsp, a single process without ranks. */
#include "server/command/apsp.h"

int main(int argc, char **argv)
{
    return apsp_run(NULL, argc, argv);
}
