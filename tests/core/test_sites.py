"""Sites on every member of the T5 family, and the model under generation, compilation and wrong backbones."""

import pytest
import torch
from conftest import BACKWARD, ONE_STACK, OTHER_FAMILIES, SMALL, TASKS, awaken, close, close_gradients, tiny_backbone, tiny_family
from transformers import (
    LlamaConfig,
    LlamaModel,
    MistralConfig,
    MistralForCausalLM,
    MT5Config,
    MT5ForConditionalGeneration,
    OPTConfig,
    OPTForCausalLM,
    T5Config,
    T5EncoderModel,
    T5ForConditionalGeneration,
    UMT5Config,
    UMT5ForConditionalGeneration,
)

import hyperlab as hl
from hyperlab.core import sites

SHAPE = {"vocab_size": 96, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "dropout_rate": 0.0, "decoder_start_token_id": 0}
GATED = {"feed_forward_proj": "gated-gelu"}
FAMILY = {
    "t5": (T5Config, T5ForConditionalGeneration, {"num_layers": 2}),
    "t5-v1.1": (T5Config, T5ForConditionalGeneration, {"num_layers": 2, "tie_word_embeddings": False} | GATED),
    "byt5": (T5Config, T5ForConditionalGeneration, {"num_layers": 3, "num_decoder_layers": 1} | GATED),
    "mt5": (MT5Config, MT5ForConditionalGeneration, {"num_layers": 2}),
    "umt5": (UMT5Config, UMT5ForConditionalGeneration, {"num_layers": 2}),
}


def family_member(name: str) -> torch.nn.Module:
    config, model, changes = FAMILY[name]
    torch.manual_seed(0)
    return model(config(**(SHAPE | changes))).eval()


@pytest.mark.parametrize("name", FAMILY)
def test_every_sublayer_can_be_reached_and_left(name: str, batch: dict) -> None:
    backbone = family_member(name)
    sites = hl.core.SiteMap(backbone)
    plain, keys = backbone(**batch).logits, list(backbone.state_dict())
    for site in (s for s in sites if s.place != "input"):  # a whole stack is acted on before, not after
        with hl.core.attach(backbone, {site: lambda v: torch.sin(3 * v)}, how="after"):
            assert not torch.equal(backbone(**batch).logits, plain), site
            assert list(backbone.state_dict()) == keys
    for how in ("beside", "instead"):
        for site in (s for s in sites if s.place == ("feedforward" if how == "beside" else "feedforward.norm")):
            with hl.core.attach(backbone, {site: torch.sin}, how=how):
                assert not torch.equal(backbone(**batch).logits, plain), (how, site)
    assert torch.equal(backbone(**batch).logits, plain)


@pytest.mark.parametrize("name", OTHER_FAMILIES)
def test_every_place_of_other_families_can_be_reached_and_left(name: str, batch: dict) -> None:
    backbone = tiny_family(name)
    sites, inputs = hl.core.SiteMap(backbone), {"input_ids": batch["input_ids"]}
    if name in ("bart", "mbart"):
        inputs["decoder_input_ids"] = batch["input_ids"][:, :4]
    plain, keys = backbone(**inputs).logits, list(backbone.state_dict())
    for site in (s for s in sites if s.place != "input"):
        with hl.core.attach(backbone, {site: lambda v: torch.sin(3 * v)}, how="after"):
            assert not torch.equal(backbone(**inputs).logits, plain), site
            assert list(backbone.state_dict()) == keys
        for how in ("beside", "beside_norm") if site.place in ("feedforward", "attention", "cross") else ():
            with hl.core.attach(backbone, {site: torch.sin}, how=how):
                assert not torch.equal(backbone(**inputs).logits, plain), (how, site)
    assert torch.equal(backbone(**inputs).logits, plain)


@pytest.mark.rounding
@pytest.mark.parametrize("name", OTHER_FAMILIES)
def test_beside_is_added_to_the_stream(name: str, batch: dict) -> None:
    "What stands beside the last feed-forward network of a decoder without a norm behind it moves its result by as much."
    backbone = tiny_family(name)
    stack = backbone.get_submodule("model.decoder" if name in ("bart", "mbart") else "transformer" if name == "gpt2" else "model")
    inputs = {"input_ids": batch["input_ids"]}
    seen: list[torch.Tensor] = []
    norm = {"bart": stack.layers[-1].final_layer_norm if name == "bart" else None, "gpt2": getattr(stack, "ln_f", None)}
    behind = norm.get(name) or (stack.layer_norm if name == "mbart" else stack.norm)
    handle = behind.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    backbone(**inputs)
    with hl.core.attach(backbone, {"decoder.1.feedforward": lambda x: 0 * x + 1.5}, how="beside"):
        backbone(**inputs)
    handle.remove()
    close("stream", seen[1], seen[0] + 1.5)


@pytest.mark.rounding
@pytest.mark.parametrize("name", FAMILY)
def test_methods_run_on_every_family(name: str, batch: dict) -> None:
    model = awaken(hl.adapt(family_member(name), "hyperformer++", TASKS, reduction_factor=8)).eval()
    mixed = ["rte", "cola", "rte", "sst2", "cola", "rte"]
    logits = model(**batch, task=mixed).logits
    row = model(**{k: v[3:4] for k, v in batch.items()}, task="sst2").logits
    close("logits", logits[3:4], row)
    inputs = {k: batch[k] for k in ("input_ids", "attention_mask")}
    static = model.materialize("rte")
    for beams in (1, 2):
        options = {"max_new_tokens": 5, "num_beams": beams}
        assert torch.equal(static.generate(**inputs, **options), model.generate(**inputs, task="rte", **options))


def test_cross_attention_can_be_adapted(batch: dict) -> None:
    model = hl.adapt(tiny_backbone(), "hyperformer++", TASKS, places=["feedforward", "attention", "cross"], reduction_factor=8)
    adapted = {str(site) for part in model.rule.parts.values() for site in part.sites}
    assert {"decoder.0.cross", "decoder.1.cross"} <= adapted and not any("encoder" in s and "cross" in s for s in adapted)
    plain = hl.adapt(tiny_backbone(), "hyperformer++", TASKS, reduction_factor=8)
    assert not any("cross" in str(s) for part in plain.rule.parts.values() for s in part.sites)
    assert model(**batch, task="rte").loss.isfinite()


def test_other_backbones_are_refused_with_what_is_supported() -> None:
    opt = OPTForCausalLM(OPTConfig(vocab_size=50, hidden_size=16, ffn_dim=16, num_hidden_layers=1, num_attention_heads=2))
    with pytest.raises(ValueError, match=r"family 'opt' are not supported; supported are: t5 \(T5, T5 v1.1, Flan-T5, ByT5\); mt5"):
        hl.adapt(opt, "hyperformer++", "rte")
    with pytest.raises(ValueError, match="expected a decoder with an output layer, such as LlamaForCausalLM"):
        hl.adapt(LlamaModel(LlamaConfig(**ONE_STACK, vocab_size=50)), "hyperformer++", "rte")
    with pytest.raises(ValueError, match="expected an encoder-decoder with an output layer"):
        hl.adapt(T5EncoderModel(T5Config(**SHAPE, num_layers=1)), "hyperformer++", "rte")
    with pytest.raises(TypeError, match="expected a transformers model as backbone, received dict"):
        hl.adapt({}, "hyperformer++", "rte")


@pytest.mark.rounding
@pytest.mark.parametrize("method", ["lora", "hyperformer++", "polytropon"])
def test_a_family_is_a_row_of_the_table(method: str, batch: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    shape = ONE_STACK | {"vocab_size": 96, "pad_token_id": 0, "sliding_window": None}
    torch.manual_seed(0)
    backbone = MistralForCausalLM(MistralConfig(**shape)).eval()
    with pytest.raises(ValueError, match=r"'mistral' are not supported; supported are: t5 .*; llama \(Llama, SmolLM2\)"):
        hl.adapt(backbone, method, TASKS, **SMALL[method])
    monkeypatch.setitem(sites.FAMILIES, "mistral", sites._llama("Mistral"))
    model = awaken(hl.adapt(backbone, method, TASKS, **SMALL[method])).eval()
    inputs = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
    mixed = model(**inputs, task=["rte", "cola", "rte", "sst2", "cola", "rte"]).logits
    close("logits", mixed[3:4], model(**{k: v[3:4] for k, v in inputs.items()}, task="sst2").logits)
    static = model.materialize("rte").generate(**inputs, max_new_tokens=4)
    assert torch.equal(static, model.generate(**inputs, task="rte", max_new_tokens=4))


def test_weights_are_produced_once_per_generate(batch: dict) -> None:
    model = awaken(hl.adapt(tiny_backbone(), "hyperformer++", TASKS, reduction_factor=8)).eval()
    calls = []
    model.rule.register_forward_hook(lambda *_: calls.append(1))
    model.generate(batch["input_ids"], task="rte", max_new_tokens=12, min_new_tokens=12, num_beams=2)
    assert len(calls) == 1


@pytest.mark.slow
@pytest.mark.rounding
def test_compiled_backbone_sees_new_weights_and_gives_the_same_gradients(batch: dict) -> None:
    mixed = ["rte", "cola", "rte", "sst2", "cola", "rte"]
    torch.manual_seed(0)  # of the hypernetwork's start
    eager = awaken(hl.adapt(tiny_backbone(num_layers=1), "hyperformer++", TASKS, reduction_factor=8))
    compiled = hl.adapt(tiny_backbone(num_layers=1), "hyperformer++", TASKS, reduction_factor=8)
    compiled.load_state_dict(eager.state_dict())
    torch._dynamo.reset()
    compiled.compile(backend="aot_eager")  # capture and differentiation as in the default, without its C++ compiler
    for update in range(3):
        for task in (mixed, "rte"):
            close("logits", compiled(**batch, task=task).logits, eager(**batch, task=task).logits)
        for model in (eager, compiled):
            model.zero_grad()
            model(**batch, task=mixed).loss.backward()
            for parameter in model.parameters():
                if parameter.requires_grad:
                    parameter.data -= 0.1 * parameter.grad
        grads = [{n: p.grad for n, p in model.named_parameters() if p.requires_grad} for model in (compiled, eager)]
        close_gradients(*grads, bound=2 * (update + 1) * BACKWARD)  # each model goes its own way from its own rounded gradients
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert graphs <= 4, "one graph for mixed batches and one for single tasks, in evaluation and training"
