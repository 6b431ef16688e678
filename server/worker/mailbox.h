/* How threads speak: whole objects, moved through a queue that belongs to the receiver. With the
 * disk threads' lines, the result table and the CPU solver's pool, the only place with a lock.
 *
 * Intrusive, so posting cannot fail: what is posted is embedded in a request, a job or a change,
 * and those are limited where they are made. */
#pragma once

#include "proto/status.h"

#include <stdbool.h>

struct message {
    struct message *next;                     /* of the mailbox while posted */
    void (*deliver)(struct message *message); /* runs on the receiver's thread */
};

struct mailbox;

/* wake, when not NULL, is called after each post, on the posting thread (uv_async_send). */
MUST_CHECK enum status mailbox_create(void (*wake)(void *context), void *context,
                                      struct mailbox **ret_mailbox);
/* Must be empty. */
void mailbox_destroy(struct mailbox *mailbox);

/* Any thread, never blocks. */
void mailbox_post(struct mailbox *mailbox, struct message *message);
/* The oldest message, NULL when there is none. */
struct message *mailbox_pop(struct mailbox *mailbox);
/* Blocks until there is a message. */
struct message *mailbox_wait(struct mailbox *mailbox);
/* Wakes the receiver without a message: state that it looks at has changed. Any thread. */
void mailbox_wake(struct mailbox *mailbox);
