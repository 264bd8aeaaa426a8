"""The plugin as a user's suite sees it: runs of pytest on projects of their own, plain and under xdist."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

pytest_plugins = ["pytester"]

SUBJECTS = """
import numpy as np
from rheocheck import Pair

PAIR = Pair(
    4,
    draft={(): ["1/4", "1/4", "1/4", "1/4"]},
    target={(): ["1/2", "1/4", "1/8", "1/8"], (0,): ["1/8", "1/8", "1/4", "1/2"]},
)


class Sampler:
    '''Draws from the target, or, with a bias, moves that much mass from token 0 to token 3 at the first token.'''

    def __init__(self, bias=0.0):
        self.bias = bias

    def sample(self, context, n_tokens, samples, seed):
        rng = np.random.default_rng(seed)
        rows = np.zeros((samples, 0), dtype=np.int64)
        for position in range(n_tokens):
            last = rows[:, -1] if position else np.full(samples, -1)
            laws = np.array([[float(x) for x in PAIR.p((t,) if t >= 0 else ())] for t in range(-1, 4)])
            if position == 0:
                laws[0] += [-self.bias, 0, 0, self.bias]
            u = rng.random(samples)
            token = (u[:, None] >= laws[last + 1].cumsum(axis=1)).sum(axis=1).clip(max=3)
            rows = np.column_stack([rows, token])
        return rows

    def __call__(self, context, n_tokens, seed):
        return self.sample(context, n_tokens, 1, seed)[0]
"""

HONEST = """
import pytest
from subjects import PAIR, Sampler

@pytest.mark.distribution
def test_honest(rheocheck):
    rheocheck.lossless(Sampler(), target=PAIR, tokens=2, eps=0.05)
"""
BIASED = """
from subjects import PAIR, Sampler

def test_biased(rheocheck):
    rheocheck.lossless(Sampler(0.1), target=PAIR, tokens=2, eps=0.05)
"""
FEW = """
from subjects import PAIR, Sampler

def test_few(rheocheck):
    rheocheck.lossless(Sampler(), target=PAIR, tokens=2, samples=1000)

def test_few_allowed(rheocheck):
    rheocheck.lossless(Sampler(), target=PAIR, tokens=2, samples=1000, allow_inconclusive=True)
"""
SAME = """
from subjects import PAIR, Sampler

def test_same(rheocheck):
    rheocheck.same_law(Sampler(), Sampler(), tokens=1, eps=0.1)

def test_other(rheocheck):
    rheocheck.same_law(Sampler(), Sampler(0.1), tokens=1, eps=0.1)
"""
STOPS = """
import pytest
from subjects import PAIR, Sampler

EOS = 3


class Stopping(Sampler):
    '''Ends a text behind token 3; `lose` of these ends are not handed out.'''

    def __init__(self, lose=0.0):
        super().__init__()
        self.lose = lose

    def sample(self, context, n_tokens, samples, seed):
        rows = super().sample(context, n_tokens, samples, seed).tolist()
        words = [row[: row.index(EOS) + 1] if EOS in row else row for row in rows]
        return [word[:-1] if word[-1] == EOS and i % 100 < 100 * self.lose else word for i, word in enumerate(words)]


def test_stops(rheocheck):
    rheocheck.lossless(Stopping(), target=PAIR, tokens=2, eps=0.1, eos=EOS)

def test_stops_like_the_other(rheocheck):
    rheocheck.same_law(Stopping(), Sampler(), tokens=1, eps=0.1, eos=EOS)

def test_nobody_said_that_it_stops(rheocheck):
    rheocheck.lossless(Stopping(), target=PAIR, tokens=2, eps=0.1)

def test_loses_ends(rheocheck):
    rheocheck.lossless(Stopping(0.1), target=PAIR, tokens=2, eps=0.1, eos=EOS)
"""
EXACT = """
from rheocheck import Shape, load_pair
from rheocheck.core import naive, recursive
from rheocheck.core.builders import rheo

PAIR = load_pair("toy_models.survival_bias:pair")
SHAPE = Shape(leads=1, branching=3, depth=2, nodes=4)

def test_rheo(rheocheck):
    rheocheck.exactly_lossless(rheo, recursive, PAIR, SHAPE)

def test_naive(rheocheck):
    rheocheck.exactly_lossless(naive, recursive, PAIR, SHAPE)
"""


@pytest.fixture
def project(pytester):
    pytester.makepyfile(subjects=SUBJECTS)
    pytester.syspathinsert()
    return pytester


def run(project, *arguments, **files):
    if files:
        project.makepyfile(**files)
    return project.runpytest_subprocess("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:benchmark", *arguments)


def evidence(result):
    """{test: its line in the summary}"""
    lines = [line for line in result.outlines if re.match(r"(PASS|FAIL|INCONCLUSIVE) ", line)]
    return {line.split()[1]: line for line in lines}


@pytest.mark.distribution
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "xdist"])
def test_verdicts_and_summary(project, workers):
    """Honest passes; TV 0.1 fails with a witness and a confirmation; too few draws fail unless allowed. alpha per
    assertion 1e-9, seeds from the node ids; the biased one is found with power > 99.9 % at its budget."""
    result = run(project, *workers, test_a=HONEST, test_b=BIASED, test_c=FEW)
    result.assert_outcomes(passed=2, failed=2)
    found = evidence(result)
    assert set(found) == {
        "test_a.py::test_honest", "test_b.py::test_biased", "test_c.py::test_few", "test_c.py::test_few_allowed"
    }  # fmt: skip
    assert re.search(r"^PASS .*TV <= 0\.0[0-5]\d+ .*would have seen TV", found["test_a.py::test_honest"])
    assert found["test_b.py::test_biased"].startswith("FAIL") and "threshold 10^9" in found["test_b.py::test_biased"]
    assert found["test_c.py::test_few"].startswith("INCONCLUSIVE")
    result.stdout.fnmatch_lines(
        [
            "*after [[]], token *",
            "*fresh-seed confirmation on * draws: E = 10^*",
            "*reproduce: pytest 'test_b.py::test_biased' --rheo-seed=0x5eed --rheo-attempt=0*",
            "suite: 4 assertions, alpha spent 4e-09 of 1e-06; mixed product of those that passed E = *; "
            "all 1 PASS bounds jointly >= 99.9%",
        ]
    )


@pytest.mark.distribution
def test_a_subject_that_may_stop(project):
    """Null: texts end where the target's do. alpha 1e-9 an assertion; lost ends, one in ten, are a proof at one hit."""
    result = run(project, test_e=STOPS)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*the end of the text: in * of * draws, emitted with frequency *, target 0.0000*",
            "*texts end early: if SUBJECT may stop, name its end-of-text token by --eos ID*",
            "*texts end early without the end-of-text token 3*",
        ]
    )
    assert sum("the end of the text: emitted " in line for line in result.outlines) == 2  # in the summary


@pytest.mark.distribution
def test_the_same_whatever_else_runs(project):
    """Seeds and thresholds do not depend on order, -k or -n."""
    project.makepyfile(test_a=HONEST, test_b=BIASED, test_c=FEW)
    alone = evidence(run(project, "test_a.py"))["test_a.py::test_honest"]
    assert alone == evidence(run(project, "-k", "honest or few"))["test_a.py::test_honest"]
    assert alone == evidence(run(project, "test_c.py", "test_a.py", "-n", "2"))["test_a.py::test_honest"]
    assert alone != evidence(run(project, "test_a.py", "--rheo-attempt=1"))["test_a.py::test_honest"]
    assert alone != evidence(run(project, "test_a.py", "--rheo-seed=7"))["test_a.py::test_honest"]


@pytest.mark.distribution
def test_two_samples(project):
    result = run(project, test_same=SAME)
    result.assert_outcomes(passed=1, failed=1)
    assert evidence(result)["test_same.py::test_other"].startswith("FAIL")


def test_exact_assertions(project):
    result = run(project, test_exact=EXACT)
    result.assert_outcomes(passed=1, failed=1)
    found = evidence(result)
    assert "total variation 0 (exact)" in found["test_exact.py::test_rheo"]
    assert "total variation 27/125 (exact)   after [], token 1" in found["test_exact.py::test_naive"]


@pytest.mark.distribution
def test_options(project):
    project.makepyfile(test_c=FEW, test_a=HONEST.replace(", eps=0.05", ""))
    found = evidence(run(project, "--rheo-eps=0.2", "--rheo-alpha=1e-3"))
    assert all(line.startswith("PASS") for line in found.values())
    line = evidence(run(project, "test_a.py", "--rheo-samples=1500"))["test_a.py::test_honest"]
    assert line.startswith("INCONCLUSIVE") and "n = 1500" in line


@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        ("--rheo-alpha=2", "--rheo-alpha must be at least 1e-100 and below 1, got 2.0"),
        ("--rheo-eps=0", "--rheo-eps must be strictly between 0 and 1, got 0.0"),
        ("--rheo-samples=0", "--rheo-samples must be an integer of at least 1, got 0"),
        ("--rheo-attempt=-1", "--rheo-attempt must be an integer of at least 0, got -1"),
        ("--rheo-seed=x", "invalid _integer value: 'x'"),
    ],
)
def test_bad_options_are_usage_errors(project, option, wanted):
    result = run(project, option, test_a=HONEST)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert wanted in result.stderr.str()


def test_reruns_are_refused(project):
    """Even when a plugin that knows the option is there."""
    project.makeconftest("def pytest_addoption(parser): parser.addoption('--reruns', type=int, default=0)")
    result = run(project, "--reruns=2", test_a=HONEST)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--reruns must not be given with rheocheck" in result.stderr.str()


@pytest.mark.parametrize(
    ("marker", "ini"), [("@pytest.mark.flaky(reruns=3)", ""), ("", "reruns = 2")], ids=["marker", "ini"]
)
def test_other_ways_to_rerun_are_refused_too(project, marker, ini):
    project.makeconftest("def pytest_addoption(parser): parser.addini('reruns', 'as pytest-rerunfailures has it')")
    project.makeini(f"[pytest]\nmarkers =\n    flaky: rerun\n    distribution: law\n{ini}\n")
    result = run(project, test_a=HONEST.replace("@pytest.mark.distribution", marker or "@pytest.mark.distribution"))
    result.assert_outcomes(errors=1)
    assert "must not be rerun" in result.stdout.str()


def test_ctrl_c_ends_the_run_and_keeps_the_summary(project):
    test = """
    from subjects import PAIR, Sampler

    class Interrupted(Sampler):
        def sample(self, *arguments):
            raise KeyboardInterrupt

    def test_interrupted(rheocheck):
        rheocheck.lossless(Interrupted(), target=PAIR, tokens=1, allow_inconclusive=True)

    def test_after(rheocheck):
        rheocheck.lossless(Sampler(), target=PAIR, tokens=1, eps=0.1)
    """
    result = run(project, test_c=test)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    assert "test_after" not in result.stdout.str()


def test_an_impossible_token_reads_as_infinite(project):
    test = """
    from subjects import PAIR, Sampler
    from rheocheck import Pair

    def test_impossible(rheocheck):
        never = Pair(4, {(): [1, 0, 0, 0]}, {(): ["1/2", "1/4", "1/4", 0]})
        rheocheck.lossless(Sampler(), target=never, tokens=1, eps=0.1)
    """
    result = run(project, test_i=test)
    assert "E infinite: an impossible token was drawn" in evidence(result)["test_i.py::test_impossible"]
    assert "p = 0" in evidence(result)["test_i.py::test_impossible"]


def test_zero_is_not_the_default(project):
    result = run(project, test_z=HONEST.replace("eps=0.05", "eps=0"))
    result.assert_outcomes(failed=1)
    assert "eps must be above 0, got 0" in result.stdout.str()


def test_a_planted_control_does_not_speak_for_others(project):
    """An assertion that failed, as a control should, counts as E = 0 in the product of the rest."""
    control = """
    import pytest
    from subjects import PAIR, Sampler

    def test_control(rheocheck):
        with pytest.raises(AssertionError):
            rheocheck.lossless(Sampler(0.2), target=PAIR, tokens=1, eps=0.05)
    """
    result = run(project, test_a=HONEST, test_b=control)
    assert result.ret == pytest.ExitCode.OK
    line = next(line for line in result.outlines if line.startswith("suite:"))
    assert float(re.search(r"E = 10\^(-?[\d.]+)", line).group(1)) <= 0


def test_capacity(project):
    """More assertions than the suite has room for fail the run, though each passes."""
    test = """
    from rheocheck import Pair, Shape
    from rheocheck.core import matching, top_k
    import pytest

    PAIR = Pair(1, {(): [1]}, {(): [1]})

    @pytest.mark.parametrize("i", range(2))
    def test_many(rheocheck, i):
        for _ in range(501):
            rheocheck.exactly_lossless(top_k, matching, PAIR, Shape(depth=1))
    """
    result = run(project, test_many=test)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["FAIL  a suite must hold at most 1000 assertions, got 1002*"])


def test_many_weak_biases_fail_together(project):
    """Twenty assertions at E = 10^1.5 each, none near 10^9: the mixed product sees them."""
    weak = """
    from rheocheck.pytest_plugin.settings import PROPERTY
    import pytest

    @pytest.mark.parametrize("i", range(20))
    def test_weak(request, i):
        record = dict(nodeid=request.node.nodeid, number=0, verdict="no_bias_found", method="sampled", object="x",
                      log10_e={log10_e}, total_variation_upper=0.02, confidence=0.999, samples=1,
                      smallest_detectable_tv=0.02, total_variation_lower=0.0, p_value=0.03)
        request.node.user_properties.append((PROPERTY, record))
    """
    result = run(project, test_weak=weak.format(log10_e=1.5))
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["FAIL  the assertions that passed, together: mixed product E = 10^* is above 10^7*test_weak*"]
    )
    assert run(project, test_weak=weak.format(log10_e=-0.3)).ret == pytest.ExitCode.OK


def test_junit_carries_the_records(project):
    run(project, "--junitxml=out.xml", test_a=EXACT)
    properties = ET.parse(project.path / "out.xml").findall(".//property")
    assert len(properties) == 2
    assert all(p.get("name") == "rheocheck" and "total_variation" in p.get("value") for p in properties)


def test_a_suite_without_the_fixture_prints_nothing(project):
    result = run(project, test_plain="def test_plain(): pass")
    assert "rheocheck" not in "\n".join(line for line in result.outlines if not line.startswith("plugins"))


def test_loading_it_is_light():
    """Nothing beyond the standard library and pytest itself."""
    script = "import sys, pytest; before = set(sys.modules); import rheocheck.pytest_plugin; "
    script += "print(*sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {m for m in done.stdout.split() if m not in sys.stdlib_module_names} <= {"rheocheck"}
