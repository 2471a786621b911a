"""Options that make hypernetworks learn more steadily: what they change, and that the papers' defaults change nothing."""

import pytest
import torch
from conftest import SMALL, TASKS, tiny_backbone

import hyperlab as hl
from hyperlab.core.generators import Projector
from hyperlab.training.recipes import Recipe
from hyperlab.training.run_folder import recipe_record
from hyperlab.training.update import make_optimizer, parameter_groups, penalised_loss, set_rates


def model(name: str = "hyperformer++", **options: object) -> hl.AdaptedModel:
    torch.manual_seed(0)
    return hl.adapt(tiny_backbone(), name, TASKS, **(SMALL.get(name, {}) | options))


def test_a_task_has_a_vector_of_its_own_at_every_site() -> None:
    adapted = model("hyperformer++", site_embeddings=True)
    rule = adapted.rule
    sites = sum(len(part.sites) for part in rule.parts.values())
    width = model("hyperformer++").rule.task_embedding.weight.shape[1]
    assert rule.task_embedding.weight.shape == (len(TASKS), sites * width)
    before = adapted.weights(TASKS[0])
    with torch.no_grad():
        rule.task_embedding.weight[0, -width:] += 1.0  # of the last site of the decoder alone
    after = adapted.weights(TASKS[0])
    changed = [site for site in before if any(not torch.equal(before[site][n], after[site][n]) for n in before[site])]
    last = str(list(rule.parts.values())[-1].sites[-1])
    assert len(changed) == 1 and last in str(changed[0])


def test_site_embeddings_refuse_given_features() -> None:
    with pytest.raises(ValueError, match="site_embeddings: expected learned vectors"):
        model("hyperformer++", site_embeddings=True, task_features="given")
    with pytest.raises(ValueError, match="site_embeddings: expected a stack with source 'task'"):
        model("hyperdecoder", site_embeddings=True)


def test_a_residual_projector_is_the_papers_plus_a_straight_path() -> None:
    projector = Projector(6, 5, 4, residual=True)
    x = torch.randn(3, 6)
    two_layers = projector[2](torch.relu(projector[0](x)))
    assert projector.straight is not None
    torch.testing.assert_close(projector(x), two_layers + x @ projector.straight.weight.T)
    assert projector(x).std() > 20 * two_layers.std()  # an embedding of full size from the first update


@pytest.mark.parametrize("name", ["task-hypernet", "hyperdecoder"])
def test_base_gate_and_scale_of_written_adapters(name: str) -> None:
    own = {"site_embeddings": True} if name == "task-hypernet" else {}
    plain, steady = model(name), model(name, base=True, gate=True, weight_scale="1/E", **own)
    writer = steady.rule.generators["decoder"].writer
    assert writer.heads.scale == pytest.approx(1 / writer.hidden.out_features)
    with torch.no_grad():
        for gate in writer.gates.values():
            gate.zero_()
    width = writer.hidden.in_features - writer.layer_embedding.shape[1]
    written = writer(torch.randn(2, width))
    for key, weight in written.items():  # closed gates leave the base, the same for every input
        torch.testing.assert_close(weight, writer.bases.of(key)[0].unsqueeze(1).expand_as(weight))
    assert set(plain.method.to_dict()) < set(steady.method.to_dict())


def test_parts_can_warm_up_more_slowly() -> None:
    groups = parameter_groups(model(), 1e-3, {"projector": 2e-3}, {"heads": 10})
    optimizer = make_optimizer(groups)
    assert set_rates(optimizer, 1.0, {10: 0.1}) == 1e-3
    rates = {name: group["lr"] for group in optimizer.param_groups for name in group["names"]}
    assert len({name for group in groups for name in group["names"]}) == sum(len(group["names"]) for group in groups)
    assert {rate for name, rate in rates.items() if "heads" in name} == {1e-3 * 0.1}
    assert {rate for name, rate in rates.items() if "projector" in name} == {2e-3}
    with pytest.raises(ValueError, match="warmups: no trained parameter that is left has 'hats'"):
        parameter_groups(model(), 1e-3, {}, {"hats": 3})


def test_the_penalty_is_what_heads_write_and_draws_it_to_zero(batch: dict) -> None:
    adapted = model().eval()
    given = {k: v for k, v in batch.items() if k in ("input_ids", "attention_mask", "labels")} | {"task": TASKS[0]}
    loss, nothing = penalised_loss(adapted, adapted, given)
    same, penalty = penalised_loss(adapted, adapted, given, penalty=2.0)
    written = [w for part in adapted.rule.generate(adapted_condition(adapted)).values() for w in part.values()]
    by_hand = 2 * torch.cat([w.flatten() for w in written]).square().mean()
    assert nothing == 0.0 and torch.equal(loss, same)
    torch.testing.assert_close(penalty, by_hand)
    with pytest.raises(ValueError, match="weight_penalty: expected a method whose weights a hypernetwork writes"):
        penalised_loss(model("adapter-dagger"), model("adapter-dagger"), given, penalty=1.0)


def adapted_condition(adapted: hl.AdaptedModel) -> object:
    from hyperlab.core.generators import read_condition

    return read_condition(TASKS[0], adapted.tasks, 1, torch.zeros(1))


def test_records_without_the_new_settings_stay_as_they_were() -> None:
    assert not {"warmups", "weight_penalty"} & set(recipe_record(Recipe()))
    changed = recipe_record(Recipe(warmups={"heads": 3}, weight_penalty=1e-3))
    assert changed["warmups"] == {"heads": 3} and changed["weight_penalty"] == 1e-3
