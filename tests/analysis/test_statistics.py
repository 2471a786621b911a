"""Comparisons of methods: exact where they can be, the same for any order, and careful with few seeds."""

import numpy as np
import pytest

from hyperlab.data.metrics import METRICS
from hyperlab.analysis.statistics import Question, compare_answers, compare_predictions, compare_scores, exchange
from hyperlab.analysis.statistics import flip_examples, holm, sign_flip
from hyperlab.analysis.statistics import slow_scorer, units, weighted_metric


def scores(gap: float, runs: int, seed: int = 0, examples: int = 120) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 10, examples)
    a, b = (70 + more + ease + rng.normal(0, 4, (runs, examples)) + rng.normal(0, 0.5, (runs, 1)) for more in (gap, 0))
    return a, b


def test_all_patterns_of_few_seeds_are_tried() -> None:
    for n in (2, 3, 5, 10):
        assert sign_flip(np.arange(1, n + 1)) == 2 / 2**n
    assert sign_flip([1.0, -1.0]) == 1.0
    assert exchange([5.0, 6.0, 7.0], [1.0, 2.0, 3.0]) == 2 / 20


def test_a_comparison_turns_with_its_sides() -> None:
    a, b = scores(1.5, 4)
    one, other = compare_scores(a, b, resamples=400), compare_scores(b, a, resamples=400)
    assert one.difference == pytest.approx(-other.difference)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.p == other.p and one.p_examples == other.p_examples and one.p_seeds == other.p_seeds == 2 / 16


def test_the_interval_and_p_agree() -> None:
    for seed in range(12):
        found = compare_scores(*scores(0.8, 3, seed), resamples=300)
        if not 0.02 < found.p < 0.08:  # one resample more or less at the edge
            assert (found.low <= 0 <= found.high) == (found.p > 0.05) == (not found.clear)


def test_pairs_see_what_scores_alone_do_not() -> None:
    a, b = scores(1.5, 3)
    shuffled = np.random.default_rng(1).permuted(b, axis=1)
    assert compare_scores(a, b, resamples=400).clear and not compare_scores(a, shuffled, resamples=400).clear


def test_seeds_that_disagree_widen_the_interval() -> None:
    a, b = scores(1.5, 3)
    lucky = a + np.array([[-6.0], [0.0], [6.0]])
    calm, wide = compare_scores(a, b, resamples=400), compare_scores(lucky, b, resamples=400)
    assert wide.high - wide.low > 3 * (calm.high - calm.low) and not wide.clear
    unequal = compare_scores(lucky, b[:2], resamples=400)
    assert unequal.p_examples is None and unequal.seeds == (3, 2)


def test_several_tasks_average_by_either_rule() -> None:
    rng = np.random.default_rng(2)
    truths = rng.integers(0, 2, 50).tolist()
    reads = [[rng.integers(0, 2, 50).tolist() for _ in range(2)] for _ in range(2)]
    questions = [Question("mrpc", ("accuracy", "f1"), truths, *reads), Question("cola", ("matthews",), truths, *reads)]
    value = lambda name: np.mean([METRICS[name](run, truths) for run in reads[0]])
    by_metrics, by_tasks = (compare_answers(questions, average=rule, resamples=50).scores[0] for rule in ("metrics", "tasks"))
    assert by_metrics == pytest.approx((value("accuracy") + value("f1") + value("matthews")) / 3)
    assert by_tasks == pytest.approx(((value("accuracy") + value("f1")) / 2 + value("matthews")) / 2)


def test_questions_are_drawn_with_all_their_options() -> None:
    rng = np.random.default_rng(3)
    truths = [(i // 4, int(rng.integers(2))) for i in range(48)]
    reads = [int(rng.integers(2)) for _ in truths]
    assert units(truths).max() == 11
    drawn = rng.multinomial(12, np.full(12, 1 / 12), 30)[:, units(truths)]
    for name in ("multirc_em", "multirc_f1a"):
        np.testing.assert_allclose(weighted_metric(name, reads, truths)(drawn), slow_scorer(name, reads, truths)(drawn))
    same = compare_predictions([reads], [reads], truths, "multirc_em", resamples=50)
    assert same.difference == 0 and same.p == same.p_examples == 1.0 and "level" in same.sentence
    assert flip_examples([Question("x", ("multirc_em",), truths, [reads], [[t for _, t in truths]])], resamples=200) < 0.05


def test_a_metric_of_ones_own_is_computed_slowly_and_rightly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "median right", lambda p, t: 100 * float(np.median([x == y for x, y in zip(p, t, strict=True)])))
    found = compare_predictions([[1, 1, 1, 0]], [[0, 0, 0, 1]], [1, 1, 1, 1], "median right", resamples=30)
    assert found.difference == 100


def test_holm_is_monotone_and_never_below_the_plain_value() -> None:
    ps = np.random.default_rng(4).random(20) ** 3
    corrected = holm(ps)
    assert all(c >= p for c, p in zip(corrected, ps, strict=True)) and max(corrected) <= 1
    assert sorted(corrected) == [corrected[i] for i in np.argsort(ps, kind="stable")]
    assert min(corrected) == pytest.approx(min(1, 20 * ps.min()))


def test_words_say_what_the_numbers_do() -> None:
    a, b = scores(3, 5)
    clear = compare_scores(a, b, ("HyperFormer++", "Adapters"), resamples=400)
    assert clear.sentence.startswith(f"HyperFormer++ is {clear.difference:.1f} points better than Adapters, 95% from ")
    assert "unlikely to be chance" in repr(clear) and repr(clear).endswith("120 examples, 5 seeds")
    assert "worse" in compare_scores(b, a, resamples=100).sentence
    assert "one seed each" in compare_scores(a[:1], b[:1], resamples=100).sentence


def test_what_can_not_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="expected answers of every run to the same examples"):
        Question("rte", ("accuracy",), [0, 1], [[0, 1]], [[0]])
    with pytest.raises(ValueError, match="expected 'metrics' or 'tasks'"):
        compare_scores([1.0, 2.0], [1.0, 2.0], average="task")
    with pytest.raises(ValueError, match="use paired=False"):
        compare_scores(np.ones((2, 4)), np.ones((3, 4)), paired=True)
