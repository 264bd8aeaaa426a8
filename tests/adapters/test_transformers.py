"""transformers as a subject: our law against its processed scores, and audits of its decoding, end to end."""

import itertools
import logging
import subprocess
import sys

import numpy as np
import pytest
import torch
from transformers import GenerationConfig

from rheocheck.adapters import transformers as adapter
from rheocheck.audit import audit
from rheocheck.core.errors import InputError, MissingExtra
from tests.adapters.enumerator import exact_law, total_variation

ALPHA = 1e-3
PARAMETERS = {
    "none": {},
    "temperature": {"temperature": 0.7},
    "top_k": {"top_k": 3},
    "top_p": {"top_p": 0.8},
    "min_p": {"min_p": 0.2},
    "repetition penalty": {"repetition_penalty": 1.5},
    "repetition reward": {"repetition_penalty": 0.7},
    "banned token": {"bad_token": 1},
    "all": {"bad_token": 2, "temperature": 1.4, "top_k": 6, "top_p": 0.9, "min_p": 0.1, "repetition_penalty": 1.3},
}


def theirs(model, context, parameters):
    """The law that transformers samples from: softmax of the scores that generate() reports."""
    ids = torch.tensor([adapter.PROMPT + context])
    settings = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "repetition_penalty": 1.0, **parameters}
    if "bad_token" in settings:
        settings["bad_words_ids"] = [[settings.pop("bad_token")]]
    config = GenerationConfig(
        do_sample=True, max_new_tokens=1, return_dict_in_generate=True, output_scores=True, **settings
    )
    with torch.random.fork_rng(devices=[]):
        out = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
    return torch.softmax(out.scores[0][0].double(), dim=-1).numpy()


@pytest.mark.distribution
@pytest.mark.parametrize("vocab_size", [4, 8])
@pytest.mark.parametrize("name", PARAMETERS)
def test_our_law_is_the_one_transformers_samples_from(name, vocab_size):
    """Equal to 1e-6, zeros included, after every context of up to two tokens: filters cut the same tokens."""
    law = adapter.target(vocab_size=vocab_size, **PARAMETERS[name])
    model = adapter.tiny_llama(vocab_size, adapter.TARGET_SEED)
    cut = 0
    for length in range(3):
        for context in itertools.product(range(vocab_size), repeat=length):
            ours, their = law(context), theirs(model, context, PARAMETERS[name])
            assert law.boundary(context) == frozenset()
            assert np.array_equal(ours == 0, their == 0)
            assert ours == pytest.approx(their, abs=1e-6)
            cut += (ours == 0).sum()
    filters = PARAMETERS[name].keys() & {"top_k", "top_p", "min_p", "bad_token"}
    assert (cut > 0) == bool(filters), "a filter that never cuts tests nothing"


def test_each_parameter_changes_the_law():
    plain = adapter.target(vocab_size=8)((1,))
    for name, parameters in PARAMETERS.items():
        same = np.allclose(adapter.target(vocab_size=8, **parameters)((1,)), plain, atol=1e-3)
        assert same == (name == "none")


def test_the_laws_teach_something():
    """Neither uniform nor alike after different tokens, and the drafter is another model."""
    law = adapter.target()
    drafter = adapter.target(target_seed=adapter.DRAFTER_SEED)
    rows = [law((x,)) for x in range(4)]
    assert law(()).max() - law(()).min() > 0.2
    assert max(np.abs(a - b).sum() / 2 for a, b in itertools.combinations(rows, 2)) > 0.1
    assert np.abs(law(()) - drafter(())).sum() / 2 > 0.5


@pytest.mark.distribution
@pytest.mark.parametrize("name", PARAMETERS)
def test_plain_generation_follows_our_law(name):
    """alpha 1e-3, seed 0: 12000 draws find any bias from TV 0.1 on with power 99.9 %."""
    verdict = audit(
        adapter.plain(**PARAMETERS[name]),
        target=adapter.target(**PARAMETERS[name]), tokens=3, samples=12_000, alpha=ALPHA,
    )  # fmt: skip
    assert verdict.verdict == "no_bias_found"
    assert verdict.smallest_detectable_tv < 0.1


@pytest.mark.distribution
@pytest.mark.parametrize("name", ["none", "banned token", "all"])
def test_assisted_generation_has_no_bias(name):
    """alpha 1e-3, seed 0; the lossy arm below is found with fewer draws."""
    verdict = audit(
        adapter.assisted(**PARAMETERS[name]),
        target=adapter.target(**PARAMETERS[name]), tokens=3, samples=1200, alpha=ALPHA,
    )  # fmt: skip
    assert verdict.verdict == "no_bias_found"
    assert verdict.seed == 0


@pytest.mark.distribution
def test_negative_control_the_lossy_ensemble_weight_is_caught():
    """TV 0.135 over 3 tokens; 800 draws find it at alpha 1e-3 with power above 99.9 % (see the next test)."""
    _, lossy, law = adapter.demo_arms()
    verdict = audit(lossy, target=law, tokens=3, samples=800, alpha=ALPHA)
    assert verdict.verdict == "biased"
    assert verdict.total_variation == pytest.approx(ensemble_tv(), abs=0.06)


@pytest.mark.distribution
def test_the_size_of_the_demonstrated_bias():
    """The exact TV of the lossy arm, and the power of 800 draws by simulation from its exact law."""
    from rheocheck.stats import chi_square

    p, emitted = joint(0.0), joint(0.1)
    assert ensemble_tv() == pytest.approx(0.1346, abs=2e-3)
    rng = np.random.default_rng(20260107)
    missed = sum(chi_square(c, p).p_value >= ALPHA for c in rng.multinomial(800, emitted, size=3000))
    assert missed <= 3


def ensemble_tv():
    return float(np.abs(joint(0.0) - joint(0.1)).sum() / 2)


def joint(draft_weight):
    """The law of 3 tokens when the first two come from (1 - w) p + w q and the last from p.

    With two drafts and three tokens, the first two are always drafted and verified; the third is always the
    target's own. Verification against v = (1 - w) p + w q emits v: q accepts min(1, v / q), and the rest,
    (v - q)+, is a multiple of (p - q)+.
    """
    target, drafter = adapter.target(), adapter.target(target_seed=adapter.DRAFTER_SEED)
    law = []
    for word in itertools.product(range(4), repeat=3):
        weights = [draft_weight, draft_weight, 0.0]
        steps = [(1 - w) * target(word[:i])[word[i]] + w * drafter(word[:i])[word[i]] for i, w in enumerate(weights)]
        law.append(np.prod(steps))
    return np.array(law)


@pytest.mark.distribution
def test_the_engine_with_speculation_off_is_a_baseline():
    verdict = audit(
        adapter.assisted(assistant_ensemble_weight=0.9),
        baseline=adapter.plain(),
        tokens=3,
        samples=1500,
        alpha=ALPHA,
    )
    assert (verdict.verdict, verdict.reference) == ("biased", "baseline")


@pytest.mark.distribution
@pytest.mark.parametrize("drafts, threshold", [(1, 0.0), (4, 0.0), (3, 0.6)])
def test_other_draft_lengths_and_the_confidence_threshold(drafts, threshold):
    subject = adapter.assisted(num_assistant_tokens=drafts, assistant_confidence_threshold=threshold)
    verdict = audit(subject, target=adapter.target(), context=(2, 1), tokens=2, samples=600, alpha=ALPHA)
    assert verdict.verdict == "no_bias_found"


@pytest.mark.distribution
@pytest.mark.parametrize("name", ["none", "all"])
def test_prompt_lookup_has_no_bias(name):
    """alpha 1e-3, seed 0, from a context that is looked up at once."""
    verdict = audit(
        adapter.prompt_lookup(**PARAMETERS[name]), target=adapter.target(**PARAMETERS[name]),
        context=adapter.LOOKUP_CONTEXT, tokens=3, samples=800, alpha=ALPHA,
    )  # fmt: skip
    assert verdict.verdict == "no_bias_found"


def test_lookups_hit(monkeypatch):
    """In the first round always, with drafts accepted, refused, and cut short by the end."""
    from transformers.generation.candidate_generator import PromptLookupCandidateGenerator as Generator

    found, accepted = [], []
    get, update = Generator.get_candidates, Generator.update_candidate_strategy
    monkeypatch.setattr(Generator, "get_candidates", lambda self, ids: found.append(get(self, ids)) or found[-1])
    monkeypatch.setattr(
        Generator,
        "update_candidate_strategy",
        lambda self, ids, scores, matches: accepted.append(int(matches)) or update(self, ids, scores, matches),
    )
    subject, start = adapter.prompt_lookup(), len(adapter.PROMPT + adapter.LOOKUP_CONTEXT)
    for seed in range(30):
        before = len(found)
        subject(adapter.LOOKUP_CONTEXT, 4, seed=seed)
        assert found[before][0][0, start:].tolist() == [1, 2]
    assert {0, 1, 2} <= set(accepted)


@pytest.mark.distribution
@pytest.mark.parametrize("name", ["none", "all"])
def test_early_exit_has_no_bias(name):
    verdict = audit(
        adapter.early_exit(**PARAMETERS[name]), target=adapter.early_exit_target(**PARAMETERS[name]),
        tokens=3, samples=800, alpha=ALPHA,
    )  # fmt: skip
    assert verdict.verdict == "no_bias_found"


def test_early_exit_drafts_with_another_law_than_both_layers():
    """And than the one-layer target: an audit against that one finds it."""
    verdict = audit(adapter.early_exit(), target=adapter.target(), tokens=2, samples=300, alpha=ALPHA)
    assert verdict.verdict == "biased"


def test_early_exit_survives_a_draft_that_raised(monkeypatch):
    """transformers does not put the number of layers back then; the subject does."""
    subject = adapter.early_exit()
    first = subject((), 4, seed=3)
    with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
        patch.setattr(torch, "multinomial", lambda *_, **__: 1 / 0)
        subject((), 4, seed=3)
    assert subject((), 4, seed=3) == first


@pytest.mark.distribution
@pytest.mark.parametrize("factory", [adapter.assisted, adapter.prompt_lookup])
def test_the_exact_law_is_the_targets(monkeypatch, factory):
    """Two tokens, one draft, vocabulary 3, by an enumeration of the tests' own; float32."""
    settings = {"num_assistant_tokens": 1} if factory is adapter.assisted else {"prompt_lookup_num_tokens": 1}
    law, _ = exact_law(monkeypatch, factory(vocab_size=3, **settings), adapter.LOOKUP_CONTEXT, 2)
    assert total_variation(law, adapter.target(vocab_size=3), adapter.LOOKUP_CONTEXT, 2, 3) < 1e-6


@pytest.mark.distribution
def test_the_exact_law_of_early_exit_is_that_of_both_layers(monkeypatch):
    law, _ = exact_law(monkeypatch, adapter.early_exit(vocab_size=3, num_assistant_tokens=1), (), 2)
    assert total_variation(law, adapter.early_exit_target(vocab_size=3), (), 2, 3) < 1e-6


@pytest.mark.parametrize("factory", [adapter.assisted, adapter.prompt_lookup, adapter.early_exit, adapter.plain])
def test_no_state_is_kept_between_calls(factory):
    """The heuristic schedule of transformers would keep its number of drafts."""
    subject = factory()
    first = subject((2, 1), 5, seed=11)
    for seed in range(6):
        subject((seed % 4,), 7, seed=seed)
    assert subject((2, 1), 5, seed=11) == first


def test_a_draw_repeats_with_its_seed_and_leaves_torch_alone():
    subject = adapter.assisted()
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    draws = [subject((1,), 5, seed=seed) for seed in (1, 2, 1)]
    assert draws[0] == draws[2] != draws[1]
    assert torch.equal(before, torch.random.get_rng_state())
    adapter.target()((0, 1))
    assert torch.equal(before, torch.random.get_rng_state())


def test_weights_come_from_the_seed_alone():
    torch.manual_seed(1)
    one = adapter.tiny_llama(4, 3).lm_head.weight
    torch.manual_seed(2)
    assert torch.equal(one, adapter.tiny_llama(4, 3).lm_head.weight)
    assert not torch.equal(one, adapter.tiny_llama(4, 4).lm_head.weight)


def test_only_the_messages_about_the_inner_call_are_hidden():
    logger = logging.getLogger("transformers.generation.utils")
    filters = list(logger.filters)
    with adapter._known_messages_off():
        hidden = logging.LogRecord(
            logger.name,
            logging.WARNING,
            "f",
            1,
            "Passing `generation_config` together with generation-related x",
            (),
            None,
        )
        shown = logging.LogRecord(logger.name, logging.WARNING, "f", 1, "The attention mask is not set", (), None)
        assert (bool(logger.filter(hidden)), bool(logger.filter(shown))) == (False, True)
    assert logger.filters == filters


def test_a_draw_prints_nothing():
    code = (
        "from rheocheck.adapters.transformers import assisted; "
        "assisted(temperature=0.7, top_k=3, repetition_penalty=1.2)((), 3, seed=1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_transformers_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"transformers is missing: pip install 'rheocheck\[hf\]'"):
        adapter.target()


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"vocab_size": 9}, "vocab_size must be an integer in 2..8, got 9"),
        ({"vocab_size": 1}, "vocab_size must be an integer in 2..8, got 1"),
        ({"temperature": 0}, "temperature must be a positive number"),
        ({"num_assistant_tokens": 0}, "num_assistant_tokens must be an integer >= 1, got 0"),
        ({"assistant_ensemble_weight": 1.0}, r"assistant_ensemble_weight must be in \(0, 1\), got 1.0"),
        ({"bad_token": 4}, "bad_token must be an integer in 0..3, got 4"),
        ({"assistant_confidence_threshold": 2}, r"assistant_confidence_threshold must be in \[0, 1\], got 2"),
    ],
)
def test_settings_out_of_range(settings, message):
    with pytest.raises(InputError, match=message):
        adapter.assisted(**settings)
