/* Message queues between threads: whole objects are moved through a queue that belongs to the
 * receiver. ARCHITECTURE.md lists the few other files with a lock.
 *
 * Posting cannot fail: the message is embedded in the request, job or change that is posted, and
 * the number of requests, jobs and changes is limited where they are created. */
#pragma once

#include "proto/status.h"

#include <sys/queue.h>

struct message {
    STAILQ_ENTRY(message) in_mailbox;
    void (*deliver)(struct message *message); /* called on the receiver's thread */
};

struct mailbox;

/* Creates a mailbox. wake: called after each post, on the posting thread; may be NULL. */
MUST_CHECK enum status mailbox_create(void (*wake)(void *context), void *context,
                                      struct mailbox **ret_mailbox);
/* Destroys the mailbox, which must be empty. */
void mailbox_destroy(struct mailbox *mailbox);

/* Posts a message. Any thread; never blocks. */
void mailbox_post(struct mailbox *mailbox, struct message *message);
/* Removes and returns the oldest message; NULL if there is none. */
struct message *mailbox_pop(struct mailbox *mailbox);
/* Wakes the receiver without a message, because state that it reads has changed. Any thread. */
void mailbox_wake(struct mailbox *mailbox);
