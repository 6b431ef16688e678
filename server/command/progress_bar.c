#include "server/command/progress_bar.h"

#include "server/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_CELLS 24
#define REDRAW_S 0.1
#define WIPE_LINE "\r\033[K"

void progress_bar_init(struct progress_bar *bar, bool quiet)
{
    *bar = (struct progress_bar){.shown = !quiet && isatty(STDERR_FILENO) == 1};
}

void progress_bar_begin(struct progress_bar *bar, const char *phase)
{
    bar->phase = phase;
    bar->began_s = clock_monotonic_s();
    bar->drawn_s = 0;
    if (bar->shown) {
        fprintf(stderr, WIPE_LINE "%s", phase);
        fflush(stderr);
    }
}

void progress_bar_update(struct progress_bar *bar, double fraction, double units_total,
                         const char *unit)
{
    char cells[BAR_CELLS + 1];
    double now_s = clock_monotonic_s();
    double passed_s = now_s - bar->began_s;
    if (!bar->shown || now_s - bar->drawn_s < REDRAW_S || fraction <= 0 || passed_s <= 0) {
        return;
    }
    bar->drawn_s = now_s;
    size_t full = (size_t)(fraction * BAR_CELLS);
    full = full > BAR_CELLS ? BAR_CELLS : full;
    memset(cells, '.', BAR_CELLS);
    memset(cells, '#', full);
    cells[BAR_CELLS] = '\0';
    fprintf(stderr, WIPE_LINE "%s [%s] %3.0f %%  %.2f G %s/s  ETA %.1f s", bar->phase, cells,
            fraction * 100, units_total * fraction / passed_s * 1e-9, unit,
            passed_s / fraction - passed_s);
    fflush(stderr);
}

void progress_bar_end(struct progress_bar *bar)
{
    if (bar->shown) {
        fputs(WIPE_LINE, stderr);
        fflush(stderr);
    }
}
