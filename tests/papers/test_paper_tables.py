"""The papers' tables as data: complete, typed without a slip, and averaged by the rule that is declared."""

from collections import Counter

import pytest

import hyperlab as hl
from hyperlab.core.method import get_method
from hyperlab.data.metrics import METRICS
from hyperlab.papers.compacter import TRAINING
from hyperlab.papers.tables import AVERAGES, PAPERS, PaperRow, PaperTable, average_table, averaging_rules, within_rounding
from hyperlab.papers.tables import known_tables, paper_table, table_frame

TABLES = known_tables()
NAMES = [f"{paper} {number}" for paper, number in TABLES]

# Rows whose average comes out by no rule: a misprint, or a cell that can't be read any more. Each has a note beside it
EXCEPTIONS = {
    ("hyperdecoders", 4, "BERT-base"),
    *(("hypergrid", 1, label) for label in ("T5†", "Ours (L2)", "Ours (LG)", "Ours (L)")),
    *(("hypergrid", 2, label) for label in ("PTFT", "Ours (L)")),
    ("hypergrid", 3, "Baseline (Max)"),
    ("hypergrid", 6, "Ours (11B)"),
}
NO_RULE = {("hypergrid", 5)}  # from a test server, which averages over metrics that the table doesn't show
OTHER_COLUMNS = {"wnli", "glue", "superglue", "summarisation", "nli", "encoder-decoder", "encoder-only"}  # no tasks of ours
OTHER_METRICS = {"unnamed", "average of the benchmark", "average of GLUE without STS-B", "mean of rouge2", "mean of accuracy"}


def rows() -> list[tuple[str, int, PaperTable, PaperRow]]:
    return [(paper, number, table, row) for (paper, number), table in TABLES.items() for row in table.rows]


def test_every_results_table_is_there() -> None:
    numbers = {paper: [n for p, n in TABLES if p == paper] for paper in PAPERS}
    assert numbers["hyperformer"] == list(range(1, 8))
    assert numbers["compacter"] == list(range(1, 12))
    assert numbers["hyperdecoders"] == list(range(1, 17))
    assert numbers["hypergrid"] == list(range(1, 7))


@pytest.mark.parametrize("table", TABLES.values(), ids=NAMES)
def test_a_table_names_its_metrics_and_its_rules(table: PaperTable) -> None:
    for row in table.rows:
        for task, values in row.scores.items():
            assert len(table.metrics[task]) == len(values), (row.label, task)
            assert set(table.metrics[task]) <= set(METRICS) | OTHER_METRICS
            assert len(row.spread.get(task, values)) == len(values)
            assert all(-100 <= v <= 100 for v in values)
            assert all(round(v, table.decimals) == v for v in values), (row.label, task)
    if any(row.scores for row in table.rows):
        assert table.splits and (table.selection or table.part == "validation")
        assert set(table.columns) <= set(hl.tasks()) | OTHER_COLUMNS


def test_rows_of_ours_are_methods_with_these_options() -> None:
    for *_, row in rows():
        if row.method:
            get_method(row.method, row.options)
            assert row.backbone
        else:
            assert not row.options and not row.printed


def test_every_printed_average_comes_out_by_the_declared_rule() -> None:
    found = set()
    for paper, number in averaging_rules()[["paper", "table"]].itertuples(index=False):
        table = average_table(paper, number)
        if (paper, number) in NO_RULE:
            assert paper_table(paper, number).averaging not in AVERAGES
            continue
        found |= {(paper, number, label) for label in table[~table["as declared"]]["row"]}
        noted = {(paper, number, label) for label in table[table["note"] != ""]["row"]}
        assert noted == {key for key in found if key[:2] == (paper, number)}, "a note for each exception, and for nothing else"
    assert found == EXCEPTIONS


def test_the_two_rules_are_told_apart_where_tasks_have_two_metrics() -> None:
    rules = averaging_rules().set_index(["paper", "table"])
    one = {"hyperformer": "over all metrics", "compacter": "over all metrics", "hyperdecoders": "over the tasks"}
    for (paper, number), line in rules.iterrows():
        two_metrics = any(len(m) > 1 for m in paper_table(paper, number).metrics.values())
        if paper in one and two_metrics:
            assert line[one[paper]] == line["rows"], (paper, number)
    best = next(r for r in average_table("hyperformer", 1).itertuples() if r.row == "HyperFormer++" and r.backbone == "t5-base")
    assert (best.printed, round(best._4, 2), round(best._5, 2)) == (86.48, 86.48, 85.20)


def test_a_rule_fits_within_one_unit_of_the_last_digit() -> None:
    assert within_rounding(86.489, 86.48, 2) and within_rounding(86.47, 86.48, 2) and not within_rounding(86.495, 86.48, 2)
    assert within_rounding(86.4, 86.5, 1) and not within_rounding(86.39, 86.5, 1)


def test_few_shot_cells_have_a_spread() -> None:
    table = paper_table("hyperformer", 2)
    assert Counter(row.shots for row in table.rows) == dict.fromkeys((4, 16, 32, 100, 250, 500, 1000, 2000), 3)
    assert all(row.runs == 5 and set(row.spread) == set(row.scores) for row in table.rows)
    assert set(table.columns) == set(hl.tasks("fewshot"))


@pytest.mark.parametrize(("paper", "number"), TABLES, ids=NAMES)
def test_a_table_can_be_laid_out(paper: str, number: int) -> None:
    frame, table = table_frame(paper, number), TABLES[paper, number]
    assert len(frame) == len(table.rows)
    for i, row in enumerate(table.rows):
        for task, values in row.scores.items():
            assert frame.iloc[i][task].startswith(f"{values[0]:.{table.decimals}f}")
        if row.average is not None:
            assert frame.iloc[i]["average"].startswith(f"{row.average:.{table.decimals}f}") and list(frame.columns)[-1] == "average"


def test_rows_that_two_tables_print_agree() -> None:
    "HyperFormer's own rows in the Hyperdecoders paper, to the digit it prints; and tables that repeat others of one paper."
    ours = {(r.method, r.tasks): r for r in paper_table("hyperformer", 1).rows if r.backbone == "t5-base"}
    for row in paper_table("hyperdecoders", 3).rows[:3]:
        for task, values in ours[row.method, 8].scores.items():
            assert all(abs(a - b) < 0.0501 for a, b in zip(values, row.scores[task], strict=True)), (row.label, task)
    chosen = {(r.label, r.options.get("n")): r for r in paper_table("compacter", 6).rows}
    for row in paper_table("compacter", 1).rows:
        if (row.label, row.options.get("n")) in chosen and "n" in row.options:
            assert chosen[row.label, row.options["n"]].scores == row.scores
    grid = {row.label: row for row in paper_table("hyperdecoders", 13).rows}
    differing = {row.label for row in paper_table("hyperdecoders", 8).rows if row.average != grid[row.label].average}
    assert differing == {row.label for row in paper_table("hyperdecoders", 8).rows if "average" in row.notes} == {"Task-Manual"}


def test_tables_of_learning_rates_say_what_the_recipes_use() -> None:
    for number, source in ((4, 1), (5, 7), (10, 9), (11, 2)):
        rates = {row.label: float(row.figures["learning rate"]) for row in paper_table("compacter", number).rows}
        assert rates == dict(TRAINING[source].rates) and TRAINING[source].rates_table == number
    assert {row.backbone for row in paper_table("compacter", 10).rows} == {"t5-small"}


def test_counts_that_stand_in_sentences_are_computed() -> None:
    found = hl.papers.claimed_counts().set_index("claim")
    assert found["agrees"].sum() == 7 and set(found[~found["agrees"]]["reported"]) == {5.51, 2.53}
    assert all(found[~found["agrees"]]["note"].str.startswith("not reproduced"))
    assert found["computed"]["biases, percent of what compacter trains"] == pytest.approx(100 * 48 * (24 + 768) / 161_728)


def test_hypergrids_parameters_are_counted_and_tables_without_any_are_named() -> None:
    found = hl.parameter_table("hypergrid", 1).set_index("row")["computed"]
    assert found["MTL (train=all-but-embeddings)"] == pytest.approx(0.222_903_552)
    assert found["PTFT (train=all-but-embeddings, single task)"] == pytest.approx(16 * 0.222_903_552)
    with pytest.raises(ValueError, match="Table 3 of hypergrid reports no parameter counts; tables that do: 1, 2, 5, 6"):
        hl.parameter_table("hypergrid", 3)
