/* What a worker's process must not say, said on its socket: by name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* false: no such thing. vertices: of the graph that is being solved. */
bool fault_babble(const char *what, uint32_t vertices);
