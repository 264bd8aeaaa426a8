"""Old evidence is not evidence about new code: a resumed audit refuses what changed, by name, and looks afresh."""

import importlib
import pathlib
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from rheocheck.audit.fingerprint import changes, fingerprint
from rheocheck.audit.fresh_look import DRAWS
from rheocheck.audit.methods import audit
from rheocheck.cli.audit import audit as audit_command
from rheocheck.core import InputError
from rheocheck.report.audit_text import audit_text
from tests.audit import subjects

RIGHT = "rng.choices(range(3), [5, 3, 2], k=n)"
HELPER = "def weights():\n    return [5, 3, 2]\n"
LAW = "def law(context):\n    return [0.5, 0.3, 0.2]\n"
DECODER = """
import random

def decoder(context, n, seed):
    rng = random.Random(seed)
    return {draws}
"""
WITH_HELPER = """
import random

def decoder(context, n, seed):
    from the_helper import weights
    return random.Random(seed).choices(range(3), weights(), k=n)
"""
NAMES = ("the_decoder", "the_helper", "the_law", "the_package")


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A folder of the user's modules, and the audit of the decoder in it, as a new process would make it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    forget()

    def write(**modules):
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        forget()

    def run(**options):
        forget()
        question = {"target": "the_law:law", "tokens": 2, "tv": 0.1, "alpha": 1e-6, "resume": "saved.json"} | options
        return audit("the_decoder:decoder", **question)

    write(the_decoder=DECODER.format(draws=RIGHT), the_law=LAW, the_helper=HELPER)
    yield write, run
    forget()


def forget():
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] in NAMES]:
        del sys.modules[name]


BROKEN = {
    "constant": "[0] * n",
    "another law": "rng.choices(range(3), [3, 4, 3], k=n)",
    "one number": "rng.choices(range(3), [5, 3, 2.000001], k=n)",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_decoder_that_was_edited_is_refused_whatever_was_edited(name, bench):
    write, run = bench
    assert run().verdict == "no_bias_found"
    write(the_decoder=DECODER.format(draws=BROKEN[name]))
    with pytest.raises(InputError, match=r"got the_decoder\.py changed since; .*: begin anew .* --resume-anyway"):
        run()


def test_a_mended_decoder_is_refused_too(bench):
    write, run = bench
    write(the_decoder=DECODER.format(draws=BROKEN["another law"]))
    assert run().verdict == "biased"
    write(the_decoder=DECODER.format(draws=RIGHT))
    with pytest.raises(InputError, match=r"the_decoder\.py changed since"):
        run()


def test_a_helper_that_is_imported_late_belongs_to_the_decoder(bench):
    write, run = bench
    write(the_decoder=WITH_HELPER)
    assert run().verdict == "no_bias_found"
    write(the_helper=HELPER.replace("2", "3"))
    with pytest.raises(InputError, match=r"the_helper\.py changed since"):
        run()


def test_the_target_belongs_to_the_question(bench):
    write, run = bench
    run()
    write(the_law=LAW.replace("0.3, 0.2", "0.2, 0.3"))
    with pytest.raises(InputError, match=r"the_law\.py changed since"):
        run()


def test_settings_belong_to_the_question(bench):
    _, run = bench
    run(question={"settings": {"top_k": 3}})
    with pytest.raises(InputError, match="same question, got settings = .'top_k': 3. there and .'top_k': 2. now"):
        run(question={"settings": {"top_k": 2}})


def test_a_library_of_another_version_is_refused_by_name(bench, monkeypatch):
    _, run = bench
    run()
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "99.1" if name == "numpy" else real(name))
    with pytest.raises(InputError, match=rf"got numpy {real('numpy')} there, 99\.1 now"):
        run()


def test_the_unedited_decoder_goes_on_bit_for_bit(bench):
    _, run = bench
    whole = run(samples=2443, tv=0.01, resume=None)
    run(samples=1000, tv=0.01)
    resumed = run(samples=2443, tv=0.01)
    assert resumed.samples == whole.samples == 2443
    assert (resumed.log10_e, resumed.total_variation, resumed.statistics, resumed.cross_check) == (
        whole.log10_e, whole.total_variation, whole.statistics, whole.cross_check,
    )  # fmt: skip
    assert resumed.notes[1].startswith(f"fresh look: {DRAWS} draws, E = ") and "they fit" in resumed.notes[1]


def test_resume_anyway_is_said_for_ever(bench):
    write, run = bench
    run(samples=1000, tv=0.01)
    write(the_decoder=DECODER.format(draws=RIGHT) + "# another comment\n")
    remark = "session 2 went on by --resume-anyway although the_decoder.py changed since"
    assert remark in run(samples=1200, tv=0.01, resume_anyway=True).notes
    assert remark in run(samples=1300, tv=0.01).notes
    assert remark in run(samples=1300, tv=0.01).notes


@pytest.mark.distribution
def test_a_fresh_look_that_contradicts_leaves_no_verdict(bench):
    """Null: saved and 200 fresh words have one law; level 1e-6, seed 0. TV between the two laws is 0.75: power 1."""
    write, run = bench
    assert run().verdict == "no_bias_found"
    write(the_decoder=DECODER.format(draws=BROKEN["constant"]))
    broken = run(resume_anyway=True)
    assert (broken.verdict, broken.exit_code) == ("inconclusive", 3)
    assert "they CONTRADICT the saved ones" in broken.notes[1]
    assert any("nothing is said" in note for note in broken.notes)
    # Nor in numbers: the saved draws bound nothing of another subject.
    assert (broken.total_variation_lower, broken.total_variation_upper) == (0.0, 1.0)
    assert broken.smallest_detectable_tv == 1.0


@pytest.mark.distribution
def test_a_fresh_look_contradicts_a_saved_bias_too(bench):
    write, run = bench
    write(the_decoder=DECODER.format(draws=BROKEN["constant"]))
    assert run().verdict == "biased"
    write(the_decoder=DECODER.format(draws=RIGHT))
    assert run(resume_anyway=True).verdict == "inconclusive"


@pytest.mark.distribution
def test_what_no_fingerprint_sees_the_fresh_look_does(tmp_path):
    """The decoder reads its law from a file, as weights are read."""
    table = tmp_path / "weights.txt"
    table.write_text("5 3 2")

    def decoder(context, n, seed):
        import random

        return random.Random(seed).choices(range(3), [float(x) for x in table.read_text().split()], k=n)

    question = {"target": lambda context: [0.5, 0.3, 0.2], "tokens": 2, "tv": 0.1, "resume": str(tmp_path / "saved")}
    assert audit(decoder, **question).verdict == "no_bias_found"
    table.write_text("0 0 1")
    assert audit(decoder, **question).verdict == "inconclusive"


@pytest.mark.distribution
@pytest.mark.parametrize(
    ("weights", "verdict", "fit"),
    [("5 3 2", "no_bias_found", "they fit"), ("37 30 33", "inconclusive", "they CONTRADICT")],
)
def test_the_first_line_rests_on_saved_draws_and_says_so(tmp_path, weights, verdict, fit):
    """Null: one law, level 1e-3, 200 draws. The other has TV 0.13 (words of one token); seed 0."""
    table = tmp_path / "weights.txt"
    table.write_text("5 3 2")

    def decoder(context, n, seed):
        import random

        return random.Random(seed).choices(range(3), [float(x) for x in table.read_text().split()], k=n)

    question = {"target": lambda context: [0.5, 0.3, 0.2], "tokens": 1, "tv": 0.1, "resume": str(tmp_path / "saved")}
    first = audit(decoder, **question)
    assert first.fresh_draws is None and "saved draws" not in audit_text(first).splitlines()[0]
    table.write_text(weights)
    resumed = audit(decoder, **question)
    assert (resumed.verdict, resumed.fresh_draws) == (verdict, DRAWS)
    line = audit_text(resumed).splitlines()[0]
    says = line.endswith(", if the saved draws are of the subject as it is now (200 fresh draws were compared)")
    assert says == (verdict == "no_bias_found")
    assert any(fit in note for note in resumed.notes)
    assert ("these draws say nothing of the subject as it is now" in audit_text(resumed)) == (verdict == "inconclusive")
    assert ("draws are too few" in audit_text(resumed)) is False


def test_the_command_refuses_and_goes_on_anyway(bench):
    write, _ = bench
    arguments = "the_decoder:decoder --target the_law:law --tokens 2 --tv 0.1 --method sampled --resume saved.json"
    assert CliRunner().invoke(audit_command, arguments.split()).exit_code == 0
    write(the_decoder=DECODER.format(draws="[0] * n"))
    refused = CliRunner().invoke(audit_command, arguments.split())
    assert "the_decoder.py changed since" in str(refused.exception)
    forget()
    gone_on = CliRunner().invoke(audit_command, [*arguments.split(), "--resume-anyway"])
    assert gone_on.exit_code == 3 and "INCONCLUSIVE" in gone_on.output and "CONTRADICT" in gone_on.output


def test_going_on_anyway_takes_a_file(bench):
    _, run = bench
    for method in ("sampled", "auto"):
        with pytest.raises(InputError, match="--resume-anyway must go with --resume FILE"):
            run(resume=None, resume_anyway=True, method=method)
    with pytest.raises(InputError, match="--resume-anyway must go with --method sampled"):
        run(resume=None, resume_anyway=True, method="exact")


def test_code_that_was_edited_after_its_import_is_not_what_lies_in_the_file(bench):
    """A notebook: the old code is loaded and drawn, the file is new already; the next process runs the new code."""
    write, run = bench
    loaded = importlib.import_module("the_decoder")
    (pathlib.Path(loaded.__file__)).write_text(DECODER.format(draws=BROKEN["another law"]))
    question = {"target": "the_law:law", "tokens": 2, "tv": 0.1, "resume": "saved.json"}
    assert audit(loaded.decoder, **question, question={"subject": "the_decoder:decoder"}).verdict == "no_bias_found"
    with pytest.raises(InputError, match="values of the subject changed since"):
        run()


def test_a_package_with_relative_imports(bench, tmp_path):
    """Its helpers are followed, and so is what its __init__ does."""
    write, run = bench
    for number, name in enumerate(("__init__.py", "inner.py", "deep/table.py")):
        for path in ("the_package", "the_package/deep"):
            (tmp_path / path).mkdir(exist_ok=True)
        (tmp_path / "the_package/__init__.py").write_text("VERSION = 1\n")
        (tmp_path / "the_package/deep/__init__.py").write_text("")
        (tmp_path / "the_package/inner.py").write_text("from .deep import table\n")
        (tmp_path / "the_package/deep/table.py").write_text("WEIGHTS = [5, 3, 2]\n")
        write(
            the_decoder="from the_package.inner import table\n"
            + DECODER.format(draws="rng.choices(range(3), table.WEIGHTS, k=n)")
        )
        run(resume=f"{number}.json")
        with open(tmp_path / "the_package" / name, "a") as file:
            file.write("# edited\n")
        with pytest.raises(InputError, match=f"{name.rpartition('/')[2]} changed since"):
            run(resume=f"{number}.json")


def made(weights, kind="closure"):
    """Decoders that differ by what they hold, or by code that lies in no file."""
    if kind == "closure":
        return lambda context, n, seed: subjects.random.Random(seed).choices(range(3), weights, k=n)
    if kind == "settings":
        return lambda context, n, seed: [weights["top"] % 2] * n
    space = {}
    exec(f"import random\ndef decoder(context, n, seed):\n    return [{weights[0]}] * n\n", space)
    return space["decoder"]


class Tempered:
    def __init__(self, temperature):
        self.temperature = temperature
        self.law = np.array([temperature, 1 - temperature])

    def __call__(self, context, n, seed):
        return [0] * n


DIFFERENT = {
    "a closure": (made((5, 3, 2)), made((5, 2, 3))),
    "no file": (made((0,), "text"), made((1,), "text")),
    "an attribute": (Tempered(0.7), Tempered(0.8)),
    "a dictionary of settings": (made({"top": 5}, "settings"), made({"top": 4}, "settings")),
    "a method": (Tempered(0.7).__call__, Tempered(0.8).__call__),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_an_object_holds_is_part_of_it(name):
    one, other = ({"subject": subject} for subject in DIFFERENT[name])
    assert changes(fingerprint(one), fingerprint(one)) == []
    assert "code and values of the subject changed since" in changes(fingerprint(one), fingerprint(other))
