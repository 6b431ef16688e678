/* The ids of requests: what a client may give, and our own. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REQUEST_ID_SIZE 65
/* The size of an id that this program makes, with the NUL. */
#define REQUEST_ID_OWN_SIZE 17

/* Whether a client's id is taken over: 1 to 64 letters, digits, dots, dashes and underscores. */
bool request_id_admit(const char *text);
/* Another one for every other sum of seed and number; hexadecimal digits. */
void request_id_print(uint64_t seed, uint64_t number, char ret_id[REQUEST_ID_OWN_SIZE]);
