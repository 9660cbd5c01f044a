"""When a run is tried again, and after which wait: arithmetic."""

from quotatree.engines.local.supervisor.retry import LONGEST_BACKOFF_SECONDS, Retries


def test_retries_count_further_attempts_and_waits_double_up_to_a_minute():
    retries = Retries({"retries": 9, "backoff_seconds": 1})
    waits = [retries.after_failure(could_start=True) for _ in range(10)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60, None]
    assert retries.attempts_words() == " (attempt 10 of 10)"


def test_without_retries_the_first_failure_is_the_last_and_nothing_is_counted():
    retries = Retries({})
    assert retries.after_failure(could_start=True) is None
    assert retries.attempts_words() == ""


def test_the_hundredth_wait_is_no_overflow():
    retries = Retries({"retries": 100, "backoff_seconds": 0.5})
    waits = [retries.after_failure(could_start=True) for _ in range(100)]
    assert waits[-1] == LONGEST_BACKOFF_SECONDS


def test_what_cannot_start_is_not_tried_again():
    assert Retries({"retries": 5}).after_failure(could_start=False) is None
