#include "server/worker/mailbox.h"
#include "tests/lib/test.h"

#include <pthread.h>

#define SENDER_COUNT 4
#define MESSAGE_COUNT 5000

struct note {
    struct message message;
    int sender;
    int number;
};

static struct mailbox *new_mailbox(void (*wake)(void *context), void *context)
{
    struct mailbox *mailbox;
    assert_int_equal(mailbox_create(wake, context, &mailbox), STATUS_OK);
    return mailbox;
}

TEST(an_empty_mailbox_returns_no_message)
{
    struct mailbox *mailbox = new_mailbox(NULL, NULL);
    assert_null(mailbox_pop(mailbox));
    mailbox_destroy(mailbox);
}

TEST(messages_are_received_in_the_order_in_which_they_were_posted)
{
    struct mailbox *mailbox = new_mailbox(NULL, NULL);
    struct note notes[3] = {0};
    for (int i = 0; i < 3; i++) {
        mailbox_post(mailbox, &notes[i].message);
    }
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(mailbox_pop(mailbox), &notes[i].message);
    }
    assert_null(mailbox_pop(mailbox));
    mailbox_destroy(mailbox);
}

TEST(a_message_can_be_posted_again_after_it_was_received)
{
    struct mailbox *mailbox = new_mailbox(NULL, NULL);
    struct note first = {0};
    struct note second = {0};
    mailbox_post(mailbox, &first.message);
    mailbox_post(mailbox, &second.message);
    assert_ptr_equal(mailbox_pop(mailbox), &first.message);
    mailbox_post(mailbox, &first.message);
    assert_ptr_equal(mailbox_pop(mailbox), &second.message);
    assert_ptr_equal(mailbox_pop(mailbox), &first.message);
    mailbox_destroy(mailbox);
}

static void count_wake(void *context)
{
    ++*(int *)context;
}

TEST(every_post_wakes_the_receiver)
{
    int wakes = 0;
    struct mailbox *mailbox = new_mailbox(count_wake, &wakes);
    struct note notes[2] = {0};
    mailbox_post(mailbox, &notes[0].message);
    mailbox_post(mailbox, &notes[1].message);
    assert_int_equal(wakes, 2);
    mailbox_wake(mailbox);
    assert_int_equal(wakes, 3);
    mailbox_pop(mailbox);
    mailbox_pop(mailbox);
    mailbox_destroy(mailbox);
}

struct sender {
    pthread_t thread;
    struct mailbox *mailbox;
    struct note notes[MESSAGE_COUNT];
};

static struct sender senders[SENDER_COUNT];

static void *send_all(void *context)
{
    struct sender *sender = context;
    for (int i = 0; i < MESSAGE_COUNT; i++) {
        mailbox_post(sender->mailbox, &sender->notes[i].message);
    }
    return NULL;
}

static void start_sender(int index, struct mailbox *mailbox)
{
    struct sender *sender = &senders[index];
    sender->mailbox = mailbox;
    for (int i = 0; i < MESSAGE_COUNT; i++) {
        sender->notes[i] = (struct note){.sender = index, .number = i};
    }
    assert_int_equal(pthread_create(&sender->thread, NULL, send_all, sender), 0);
}

TEST(no_message_is_lost_and_the_messages_of_each_sender_stay_in_order)
{
    struct mailbox *mailbox = new_mailbox(NULL, NULL);
    int next[SENDER_COUNT] = {0};
    for (int i = 0; i < SENDER_COUNT; i++) {
        start_sender(i, mailbox);
    }
    for (int i = 0; i < SENDER_COUNT * MESSAGE_COUNT; i++) {
        struct note *note;
        while ((note = (struct note *)mailbox_pop(mailbox)) == NULL) {
            sched_yield();
        }
        assert_int_equal(note->number, next[note->sender]++);
    }
    for (int i = 0; i < SENDER_COUNT; i++) {
        pthread_join(senders[i].thread, NULL);
        assert_int_equal(next[i], MESSAGE_COUNT);
    }
    assert_null(mailbox_pop(mailbox));
    mailbox_destroy(mailbox);
}
