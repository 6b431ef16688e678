/* Messages that a worker process must not send, sent on its socket: by name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* false: no such thing. vertices: of the graph that is being solved. */
bool fault_protocol_send(const char *what, uint32_t vertices);
