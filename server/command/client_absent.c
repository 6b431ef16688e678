/* In place of the commands that ask a service, where libcurl is not there. */
#include "server/command/command.h"

const struct command *const command_client_list[] = {NULL};
