/* Replaces the client commands in a build without libcurl: the list of client commands is empty. */
#include "server/command/command.h"

const struct command *const command_client_list[] = {NULL};
