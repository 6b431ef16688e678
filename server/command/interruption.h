/* SIGINT and SIGTERM as a flag that the work looks at, so that it can tidy up behind itself. */
#pragma once

#include <stdbool.h>

/* From now on the first such signal is noted; a second one ends the process. */
void interruption_watch(void);
bool interruption_seen(void);
/* The form that struct observer wants; context is not used. */
bool interruption_cancels(void *context);
