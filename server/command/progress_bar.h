/* One line on a terminal that tells how far the work is; nothing when standard error is none. */
#pragma once

#include <stdbool.h>

struct progress_bar {
    bool shown; /* standard error is a terminal and the user did not ask for quiet */
    const char *phase;
    double began_s;
    double drawn_s;
};

void progress_bar_init(struct progress_bar *bar, bool quiet);
/* A new phase begins: its clock starts. */
void progress_bar_begin(struct progress_bar *bar, const char *phase);
/* fraction: 0..1 of the phase; units_total: what the whole phase is worth, for the rate. Draws at
 * most ten times a second. */
void progress_bar_update(struct progress_bar *bar, double fraction, double units_total,
                         const char *unit);
/* Wipes the line. */
void progress_bar_end(struct progress_bar *bar);
