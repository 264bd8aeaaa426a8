"""The text of an exact verdict says what the verdict says."""

import io

from rich.console import Console

from rheocheck.audit.matrix import MatrixRow
from rheocheck.audit.verdict import BoundaryFault, BoundaryToken, ShownPath, ShownStep, Verdict, Witness
from rheocheck.report.audit_text import audit_text
from rheocheck.report.exact_text import path_lines
from rheocheck.report.matrix_table import matrix_table


def verdict(word="no_bias_found", **changes):
    values = dict(
        verdict=word, method="exact", total_variation=2.1e-8, total_variation_upper=2.1e-8, confidence=1.0,
        total_variation_lower=2.1e-8, object='joint prefix of 2 tokens after context ""', reference="target",
        p_value=None, e_value=None, samples=0, paths=28, unseen=0.0, seconds=1.902, smallest_detectable_tv=1e-6,
        tolerance=1e-6, alpha=1e-6, tv=0.02, witness=None, seed=7,
    )  # fmt: skip
    return Verdict(**{**values, **changes})


PATH = ShownPath(
    (0, 1), 0.0125,
    (
        ShownStep(0, 3, 0.25, "torch.multinomial drew 0", "generate.py:12"),
        ShownStep(11, 12, 0.05, "uniform < 0.25", "generate.py:40"),
    ),
    "rheocheck audit my:decoder --target my:law --tokens 2 --replay 0,11",
)  # fmt: skip


def test_no_bias_found():
    """The first line claims what the plain runs leave possible too; bounds are rounded up."""
    runs = verdict(plain_runs=200, plain_processes=5, hidden_tv=0.2261, hidden_event=1 - 1e-6 ** (1 / 200))
    assert audit_text(runs).splitlines() == [
        "NO BIAS FOUND down to TV 1e-06, by enumeration; hidden randomness of a call: at most TV 0.23, "
        "by 200 plain runs",
        '  joint prefix of 2 tokens after context "", against the target',
        "  total variation below the float tolerance 1e-06",
        "  28 paths of random choices, 1.90 s; all of the probability",
        "  200 plain runs of the real code in 5 processes fit this law: hidden randomness of a call could change it by "
        "at most TV 0.23 (confidence 1 - 1e-6); a hidden event of probability 0.067 that emits an impossible word "
        "would have been seen; what a process draws once, at import, was seen only 5 times",
    ]


def test_no_bias_found_without_plain_runs_says_so():
    expected = "NO BIAS FOUND down to TV 1e-06, by enumeration; hidden randomness was not looked for"
    for runs in (None, 0):
        text = audit_text(verdict(plain_runs=runs, hidden_tv=1.0, hidden_event=1.0))
        assert text.splitlines()[0] == expected
        assert "plain run" not in text


def test_bounds_are_rounded_up():
    one = verdict(plain_runs=1, plain_processes=1, hidden_tv=1.0, hidden_event=0.0012001)
    text = audit_text(one)
    assert "  1 plain run of the real code fit this law" in text
    assert text.splitlines()[4].endswith("; what a process draws once, at import, was seen only once")
    assert "at most TV 1 (confidence" in text and "probability 0.0013 that" in text


def test_a_step_names_its_caller():
    steps = (ShownStep(1, 3, 0.5, "random.choices drew 1", "helper.py:7", "decoder.py:12"),)
    lines = path_lines(ShownPath((1,), 0.5, steps, ""))
    assert lines[1:] == [
        "  1 of 0..2, probability 0.5000  random.choices drew 1  (helper.py:7, called from decoder.py:12)",
    ]


def test_no_digit_below_the_tolerance_is_printed():
    """They are the rounding of one processor's matrix product; JSON keeps them."""
    values = (0.0, 1e-17, 8.0e-8, 8.5e-8, 1e-6)
    assert len({audit_text(verdict(total_variation=value)) for value in values}) == 1
    assert "total variation 1.1e-06, above the float tolerance 1e-06" in audit_text(verdict(total_variation=1.1e-6))
    assert verdict(total_variation=8.5e-8).to_dict()["total_variation"] == 8.5e-8
    rows = [MatrixRow("x", False, verdict(total_variation=value)) for value in values]
    assert len({str(list(matrix_table([row], ["x"]).columns[2].cells)) for row in rows}) == 1
    assert list(matrix_table(rows[:1], ["x"]).columns[2].cells) == ["below 1e-06"]


def test_a_row_of_a_matrix_is_one_line():
    row = MatrixRow("x", False, verdict(total_variation=0.0, tolerance=2.5e-6, plain_runs=5000, hidden_tv=0.00451))
    console = Console(width=160, file=io.StringIO())
    console.print(matrix_table([row], ["x"]))
    (line,) = console.file.getvalue().splitlines()
    assert "  below 2.5e-06 + 0.0046 hidden  " in line


def test_biased_shows_its_path_and_how_to_run_it():
    text = audit_text(
        verdict(
            "biased", total_variation=0.098, witness=Witness((0,), 1, 0.5, 0.25), path=PATH,
            confirmation="confirmed by 200 plain draws: E = 10^13.0; they fit the enumerated law (p-value 0.4)",
        )
    )  # fmt: skip
    assert text.splitlines() == [
        "BIASED",
        '  joint prefix of 2 tokens after context "", against the target',
        "  total variation 0.0980, above the float tolerance 1e-06",
        "  28 paths of random choices, 1.90 s; all of the probability",
        '  witness: after context "0", token 1: emitted with probability 0.5000, target 0.2500',
        "  path: 2 random choices, probability 0.0125, emits 0 1",
        "    0 of 0..2, probability 0.2500    torch.multinomial drew 0  (generate.py:12)",
        "    11 of 0..11, probability 0.0500  uniform < 0.25  (generate.py:40)",
        "  replay: rheocheck audit my:decoder --target my:law --tokens 2 --replay 0,11",
        "  confirmed by 200 plain draws: E = 10^13.0; they fit the enumerated law (p-value 0.4)",
        "  seed: 7",
    ]


def test_an_interval():
    text = audit_text(
        verdict(
            "inconclusive", method="interval", total_variation=None, total_variation_lower=2e-9,
            total_variation_upper=0.25, unseen=0.25, stopped="max_paths", paths=1, notes=("raise --max-paths",),
        )
    )  # fmt: skip
    assert text.splitlines()[0] == "INCONCLUSIVE"
    assert text.splitlines()[2:] == [
        "  total variation between 0 and 0.2500, for certain",
        "  1 path of random choices, 1.90 s; probability 0.2500 not enumerated (max_paths)",
        "  note: raise --max-paths",
    ]


def test_a_witness_of_an_interval_is_a_lower_bound():
    text = audit_text(verdict("biased", method="interval", total_variation=None, witness=Witness((), 1, 0.5, 0.25)))
    assert "emitted with probability at least 0.5000, target 0.2500" in text


def test_an_impossible_token_may_be_a_bias_below_the_tolerance():
    text = audit_text(verdict("biased", total_variation=1.5e-6, tolerance=3e-6))
    assert (
        "total variation 1.5e-06; what is impossible under the target comes with more than the float tolerance" in text
    )


def test_what_lies_on_the_edge():
    text = audit_text(
        verdict(
            boundary_tokens=(BoundaryToken((0,), 1, 0.0, 0, 2e-7),),
            boundary_faults=(
                BoundaryFault((2, 1), "uniform 3 = 0", "decoder.py:9"),
                BoundaryFault((2, 2), "uniform 3 = 0", "decoder.py:9"),
            ),
        )
    )
    assert (
        "boundary fault: 2 1 (and 1 other word) is emitted only on an event of probability zero (uniform 3 = 0, "
        "decoder.py:9), and never by the target; rounded random numbers can hit that event. TV does not count it"
        in text
    )
    assert 'boundary token: after context "0", token 1 is within rounding' in text
    assert "(target 0, emitted 2e-07): not counted as a bias" in text


def test_paths_of_one_choice_and_of_none():
    one = ShownPath((3,), 0.5, (ShownStep(1, 2, 0.5, "coin", "x.py:1"),), "")
    assert path_lines(one)[0] == "path: 1 random choice, probability 0.5000, emits 3"
    assert path_lines(ShownPath((3,), 1.0, (), "")) == ["no random choice at all: always emits 3"]
