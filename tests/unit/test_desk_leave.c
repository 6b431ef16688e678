#include "tests/unit/desk_fixture.h"

#include <sys/socket.h>
#include <unistd.h>

/* A long-poll, or a stream past its first piece, of a client at the other end of sockets. */
static struct question *post_waiting(struct fixture *fixture, enum ask_kind kind,
                                     const char *job_id, int sockets[2])
{
    struct question *question = new_question(kind, job_id);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    question->ask.client_socket = sockets[0];
    question->ask.wait_s = LONG_S;
    question->ask.wait_until_final = true;
    fixture->config.heartbeat_s = LONG_S;
    if (kind == ASK_EVENTS) {
        ask(fixture, question, STATUS_OK, 200);
        ask_finish(&question->ask);
        question->answered = false;
    }
    desk_post(fixture->desk, &question->ask);
    return question;
}

static void assert_leaving_ends(struct fixture *fixture, enum ask_kind kind, const char *job_id)
{
    int sockets[2];
    struct question *question = post_waiting(fixture, kind, job_id, sockets);
    close(sockets[1]);
    wait_for(fixture, question);
    assert_true(question->ask.client_left);
    assert_int_equal(question->ask.http_status, 200);
    close(sockets[0]);
    forget(question);
}

/* Behind another, so that no progress ends a stream's wait. */
static void a_wait_ends_when_its_client_leaves(void **state)
{
    struct fixture *fixture = *state;
    char running[JOB_ID_SIZE];
    char queued[JOB_ID_SIZE];
    submit_long(fixture, 1, running);
    submit_long(fixture, 2, queued);
    assert_leaving_ends(fixture, ASK_JOB, queued);
    assert_leaving_ends(fixture, ASK_EVENTS, queued);
    cancel(fixture, queued);
    cancel(fixture, running);
}

static void a_client_that_sends_on_is_not_gone(void **state)
{
    struct fixture *fixture = *state;
    char job_id[JOB_ID_SIZE];
    int sockets[2];
    submit_long(fixture, 1, job_id);
    struct question *question = post_waiting(fixture, ASK_JOB, job_id, sockets);
    assert_int_equal(write(sockets[1], "GET", 3), 3);
    cancel(fixture, job_id);
    wait_for(fixture, question);
    assert_false(question->ask.client_left);
    assert_state(question, "cancelled");
    /* Its socket is no longer looked at. */
    close(sockets[1]);
    finish_job(fixture, job_id, "cancelled");
    close(sockets[0]);
    forget(question);
}

static void one_of_many_leaves_and_the_others_wait_on(void **state)
{
    struct fixture *fixture = *state;
    char job_id[JOB_ID_SIZE];
    struct question *questions[5];
    int sockets[5][2];
    submit_long(fixture, 1, job_id);
    for (int i = 0; i < 5; i++) {
        questions[i] = post_waiting(fixture, ASK_JOB, job_id, sockets[i]);
    }
    close(sockets[2][1]);
    wait_for(fixture, questions[2]);
    assert_true(questions[2]->ask.client_left);
    for (int i = 0; i < 5; i++) {
        assert_true(questions[i]->answered == (i == 2));
    }
    cancel(fixture, job_id);
    for (int i = 0; i < 5; i++) {
        wait_for(fixture, questions[i]);
        assert_true(questions[i]->ask.client_left == (i == 2));
        close(sockets[i][0]);
        if (i != 2) {
            close(sockets[i][1]);
        }
        forget(questions[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DESK_TEST(a_wait_ends_when_its_client_leaves),
        DESK_TEST(a_client_that_sends_on_is_not_gone),
        DESK_TEST(one_of_many_leaves_and_the_others_wait_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
