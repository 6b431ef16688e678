/* Reads the published results through, past the page cache and at a steady pace, so that a disk
 * that forgets is noticed while there is still a graph to solve again.
 *
 * One thread, which owns nothing: a reference to the result in hand. Its lock guards the word to
 * stop. What it finds damaged it notes on the result (result_note_damage), whose owner is told. */
#pragma once

#include "server/store/result_table.h"

struct scrubber;

/* rate_bytes: a second, more than 0. pause_s: after one reading, before the next. Borrows the table
 * until scrubber_stop. */
MUST_CHECK enum status scrubber_start(struct result_table *table, uint64_t rate_bytes,
                                      double pause_s, struct scrubber **ret_scrubber);
/* Ends with the block in hand. NULL is accepted. */
void scrubber_stop(struct scrubber *scrubber);
