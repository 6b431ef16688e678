#include "server/worker/mailbox.h"

#include <pthread.h>

struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    struct message *first;
    struct message *last;
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
    pthread_mutex_init(&mailbox->lock, NULL);
    pthread_cond_init(&mailbox->posted, NULL);
    *ret_mailbox = mailbox;
    return STATUS_OK;
}

void mailbox_destroy(struct mailbox *mailbox)
{
    if (mailbox == NULL) {
        return;
    }
    CHECK(mailbox->first == NULL);
    pthread_cond_destroy(&mailbox->posted);
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox);
}

void mailbox_post(struct mailbox *mailbox, struct message *message)
{
    message->next = NULL;
    pthread_mutex_lock(&mailbox->lock);
    if (mailbox->last != NULL) {
        mailbox->last->next = message;
    } else {
        mailbox->first = message;
    }
    mailbox->last = message;
    pthread_cond_signal(&mailbox->posted);
    /* Under the lock, so that a receiver can destroy the mailbox after this message. */
    mailbox_wake(mailbox);
    pthread_mutex_unlock(&mailbox->lock);
}

/* The lock is held. */
static struct message *pop_first(struct mailbox *mailbox)
{
    struct message *message = mailbox->first;
    if (message == NULL) {
        return NULL;
    }
    mailbox->first = message->next;
    if (mailbox->first == NULL) {
        mailbox->last = NULL;
    }
    message->next = NULL;
    return message;
}

struct message *mailbox_pop(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    struct message *message = pop_first(mailbox);
    pthread_mutex_unlock(&mailbox->lock);
    return message;
}

struct message *mailbox_wait(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    while (mailbox->first == NULL) {
        pthread_cond_wait(&mailbox->posted, &mailbox->lock);
    }
    struct message *message = pop_first(mailbox);
    pthread_mutex_unlock(&mailbox->lock);
    return message;
}

void mailbox_wake(struct mailbox *mailbox)
{
    if (mailbox->wake != NULL) {
        mailbox->wake(mailbox->context);
    }
}
