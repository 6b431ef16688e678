"""The sequential model explains random histories with kills, but no impossible history. The long
form is tests/campaign/histories.py."""

import history
import harness

KEY = "1-0"


def calls(*steps):
    """Returns the events of a sequential history; each step is (kind, answer) or "kill"."""
    events = []
    for number, step in enumerate(steps):
        if step == "kill":
            events.append(("kill",))
        else:
            kind, answer = step
            events += [("call", number, kind, KEY), ("return", number, answer)]
    return events


def is_refused(*steps):
    try:
        history.check(calls(*steps))
        return False
    except history.Anomaly:
        return True


def submitted(state, durable=True):
    return "submit", (200, KEY, state, durable)


def looked(state, durable=True):
    return "look", (200, state, durable)


def test_the_model_refuses_impossible_histories():
    done = (submitted("queued"), looked("done"))
    assert not is_refused(*done, ("query", (200,)), ("delete", (204,)), ("query", (404,)))
    assert is_refused(*done, ("query", (409,)))
    assert is_refused(*done, ("delete", (204,)), ("query", (200,)))
    assert is_refused(*done, ("delete", (204,)), "kill", ("query", (200,)))
    assert is_refused(*done, looked("queued"))
    assert is_refused(*done, "kill", looked("queued"))
    assert is_refused(*done, "kill", ("query", (409,)))
    assert is_refused(*done, ("cancel", (202, "cancelled")))
    assert is_refused(submitted("queued"), ("delete", (204,)), looked("queued"))
    assert is_refused(submitted("queued"), "kill", ("look", (404, b"")))
    assert is_refused(submitted("queued"), ("cancel", (202, "cancelled")), "kill", looked("queued"))
    running = (submitted("queued"), looked("running"))
    assert is_refused(*running, looked("queued"))
    assert not is_refused(*running, "kill", looked("queued"))
    assert not is_refused(*running, ("cancel", (202, "running")), "kill", looked("cancelled"))
    assert is_refused(*running, ("cancel", (202, "running")), "kill", looked("queued"))
    assert is_refused(*running, ("cancel", (202, "running")), looked("done"))
    lost = (submitted("queued"), looked("done", False), "kill")
    assert not is_refused(*lost, looked("queued"))
    assert is_refused(*lost, looked("cancelled"))


def test_an_unanswered_call_may_or_may_not_have_taken_effect():
    open_ = calls(submitted("queued"), looked("done")) + [("call", 9, "delete", None), ("kill",)]
    for status in (404, 200):
        history.check(open_ + [("call", 10, "query", None), ("return", 10, (status,))])


def test_histories_with_kills_are_consistent_with_the_model():
    for seed in range(2 if harness.QUICK else 6):
        count = history.run(seed, kills=3)
        assert count > 40, count


if __name__ == "__main__":
    harness.run(globals())
