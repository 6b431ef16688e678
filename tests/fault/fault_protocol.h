/* Sends messages that a worker process must not send, by name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns false if there is no such message. vertices: the size of the graph that is being solved.
 */
bool fault_protocol_send(const char *what, uint32_t vertices);
