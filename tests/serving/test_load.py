"""The load test itself, small: every answer is its own task's, and only the batches differ."""

import pytest

from hyperlab.serving.load_test import bench_serve


@pytest.mark.slow
def test_servers_answer_right_however_they_batch() -> None:
    result = bench_serve(clients=(8,), rate=50.0, seconds=2.0, rounds=1, requests=640, apart=False)
    batches = {row.name: row.batch for row in result.rows}  # type: ignore[attr-defined]
    none_wrong = [goal for goal in result.goals if goal.goal == 0]
    assert len(none_wrong) == 2 and all(goal.met for goal in none_wrong), "also while one of two processes is killed"
    assert batches["no batches"] == 1 and batches["mixed tasks"] > batches["one task per batch"] >= 1
    assert "mixed tasks" in str(result)
