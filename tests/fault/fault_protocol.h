/* Sends messages that a worker process must never send. Each message has a name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sends the forbidden message with this name; returns false if there is none. vertices: the size of
 * the graph that is being solved. */
bool fault_protocol_send(const char *what, uint32_t vertices);
