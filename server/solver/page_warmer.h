/* Makes the pages of a result ready while a device still computes it, or while its solve is
 * planned: writing to a mapped file that nobody has touched yet runs at the speed of page faults, a
 * fifth of the speed of memory.
 *
 * Threads of its own go through the memory from its beginning; what it holds is not changed, so the
 * solver may write at any time. */
#pragma once

#include <stddef.h>

struct page_warmer;

/* Who has the processors: a device computes, or the solver's threads are on all of them, and who
 * asks for something meanwhile waits for as long as one is held up. */
enum page_warmer_company { PAGE_WARMER_ALONE, PAGE_WARMER_BESIDE_SOLVER };

/* NULL when there is nothing to gain (little memory, or more than a share of what the machine has,
 * which would push out the rest): the solver then meets the pages itself. */
struct page_warmer *page_warmer_start(void *memory, size_t size, enum page_warmer_company company);
/* Within a few milliseconds, whatever is still cold. How the memory's pages are made stays chosen.
 * NULL is accepted. */
void page_warmer_stop(struct page_warmer *warmer);
/* Stops it, and once the memory is written. NULL is accepted. */
void page_warmer_destroy(struct page_warmer *warmer);
