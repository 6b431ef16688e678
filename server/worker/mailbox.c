#include "server/worker/mailbox.h"

#include <pthread.h>

struct mailbox {
    pthread_mutex_t lock;
    STAILQ_HEAD(, message) messages; /* the oldest message first */
    void (*wake)(void *context);
    void *context;
};

enum status mailbox_create(void (*wake)(void *context), void *context, struct mailbox **ret_mailbox)
{
    struct mailbox *mailbox = calloc(1, sizeof(*mailbox));
    if (mailbox == NULL) {
        return STATUS_NO_MEMORY;
    }
    mailbox->wake = wake;
    mailbox->context = context;
    STAILQ_INIT(&mailbox->messages);
    pthread_mutex_init(&mailbox->lock, NULL);
    *ret_mailbox = mailbox;
    return STATUS_OK;
}

void mailbox_destroy(struct mailbox *mailbox)
{
    if (mailbox == NULL) {
        return;
    }
    CHECK(STAILQ_EMPTY(&mailbox->messages));
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox);
}

void mailbox_post(struct mailbox *mailbox, struct message *message)
{
    pthread_mutex_lock(&mailbox->lock);
    STAILQ_INSERT_TAIL(&mailbox->messages, message, in_mailbox);
    /* Wakes the receiver before the unlock: once it has the message, it may destroy the mailbox. */
    mailbox_wake(mailbox);
    pthread_mutex_unlock(&mailbox->lock);
}

struct message *mailbox_pop(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    struct message *message = STAILQ_FIRST(&mailbox->messages);
    if (message != NULL) {
        STAILQ_REMOVE_HEAD(&mailbox->messages, in_mailbox);
    }
    pthread_mutex_unlock(&mailbox->lock);
    return message;
}

void mailbox_wake(struct mailbox *mailbox)
{
    if (mailbox->wake != NULL) {
        mailbox->wake(mailbox->context);
    }
}
