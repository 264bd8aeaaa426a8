"""Guests of the exact engine are functions of their arguments and their chance; what is not is refused, always.

Every guest below is a correct part of a decoder but for one fault, which most calls do not show: before guests were
watched, `verify` called such decoders lossless, biased or refused them, as it fell out.
"""

import datetime
import functools
import gc
import itertools
import os
import pathlib
import random
import secrets
import subprocess
import sys
import threading
import time
import types
import uuid
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from random import random as captured_random

import numpy as np
import pytest
import scipy.stats
import torch

from rheocheck.core import InputError, Node, Pair, ReplayChance, Shape, Tree, outcomes
from rheocheck.core.builders import rheo, sampled, top_k
from rheocheck.core.decoder import build
from rheocheck.core.verifiers import matching, recursive
from rheocheck.exact import Method, certify, hypotheses, relabel, sweep, verify
from tests.exact import subjects_of_guests

PAIR = Pair(3, draft={(): ["1/2", "3/10", "1/5"]}, target={(): ["1/5", "2/5", "2/5"]})
SHAPE = Shape(leads=1, branching=3, depth=2, nodes=3)
TIMES = 20
HELD = np.random.default_rng(1)
OLD = np.random.RandomState(1)
PRIVATE = random.Random(1)
TORCH = torch.Generator()
TICKS = itertools.count()
ROUND = itertools.cycle([0.9] * 40 + [0.0])
SCORES = defaultdict(int)
LOG = []
calls = 0


def generated():
    n = 0
    while True:
        n += 1
        yield n


NUMBERS = generated()


class Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self.calls / 1000 + 0.1


class SeededOnce:
    rng = random.Random(3)

    def draw(self):
        return self.rng.random()


class Slotted:
    __slots__ = ("calls",)

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return 0.0 if self.calls > 1000 else 1.0


class OfTheClass:
    calls = 0

    def __call__(self):
        type(self).calls += 1
        return 0.0 if OfTheClass.calls > 1000 else 1.0


class WithNumpy:
    rng = np.random.default_rng(7)

    def __call__(self):
        return self.rng.random()


def in_an_array(counts=np.zeros(3)):  # noqa: B008 (the fault)
    counts[1] += 1
    return 0.0 if counts[1] > 1000 else 1.0


def in_a_tensor(counts=torch.zeros(3)):  # noqa: B008 (the fault)
    counts[1] += 1
    return 0.0 if counts[1] > 1000 else 1.0


LATE = None


def made_by_the_first_call():
    global LATE
    if LATE is None:
        LATE = np.random.default_rng(5)
    return LATE.random()


def device():
    with open("/dev/urandom", "rb") as source:
        return source.read(1)[0] / 256


def device_by_path():
    with pathlib.Path("/dev/random").open("rb") as source:
        return source.read(1)[0] / 256


def device_by_number():
    number = os.open("/dev/urandom", os.O_RDONLY)
    try:
        return os.read(number, 1)[0] / 256
    finally:
        os.close(number)


def device_in_bytes():
    with open(b"/dev/urandom", "rb") as source:
        return source.read(1)[0] / 256


def device_by_a_roundabout_path():
    with open(os.path.relpath("/dev/urandom"), "rb") as source:
        return source.read(1)[0] / 256


def uuid_of_the_kernel():
    with open("/proc/sys/kernel/random/uuid") as source:
        return int(source.read(2), 16) / 256


def figures_of_the_kernel():
    return int(pathlib.Path("/proc/self/stat").read_text().split()[13]) % 10 / 10


SPACE = types.SimpleNamespace(rng=np.random.default_rng(3), calls=0)


def in_a_namespace():
    SPACE.calls += 1
    return 0.0 if SPACE.calls > 1000 else 1.0


def on_another_module():
    sys.rheocheck_calls = getattr(sys, "rheocheck_calls", 0) + 1
    return 0.0 if sys.rheocheck_calls > 1000 else 1.0


POOL = ThreadPoolExecutor(1)
POOL.submit(int).result()


def global_counter():
    global calls
    calls += 1
    return 0.0 if calls % 1000 == 0 else 1.0


def mutable_default(seen=[]):  # noqa: B006 (the fault)
    seen.append(1)
    return 0.0 if len(seen) > 1000 else 1.0


def growing_dictionary(seen={}):  # noqa: B006 (the fault)
    seen[len(seen)] = 1
    return 0.0 if len(seen) > 1000 else 1.0


def dictionary_of_numbers():
    SCORES["calls"] += 1
    return 0.0 if SCORES["calls"] > 1000 else 1.0


def global_list():
    LOG.append("called")
    return 0.0 if len(LOG) > 1000 else 1.0


def closure():
    n = 0

    def count():
        nonlocal n
        n += 1
        return 0.0 if n > 1000 else 1.0

    return count


def on_itself():
    on_itself.calls = getattr(on_itself, "calls", 0) + 1
    return 0.0 if on_itself.calls > 1000 else 1.0


def swallowed():
    try:
        return random.random()
    except InputError:
        return 1.0


def by_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(random.random()))
    thread.start()
    thread.join()
    return found[0]


def imported_late():
    import random as chance

    return chance.uniform(0, 1)


# How each one says "now and then": a number that is below 0.1 in some calls.
FAULTS = {
    "random": lambda: random.random(),
    "random captured at import": lambda: captured_random(),
    "random, a helper of the library": lambda: random.choice([0.05, 0.5, 0.9]),
    "random, imported in the call": imported_late,
    "a private Random": lambda: PRIVATE.random(),
    "a Random of a class": SeededOnce().draw,
    "a fresh Random": lambda: random.Random().random(),
    "inside a C function": lambda: next(map(PRIVATE.expovariate, [1.0])),
    "called by C": lambda: min([0.5, 0.7], key=lambda x: PRIVATE.random()),
    "swallowed": swallowed,
    "in a thread": by_thread,
    "SystemRandom": lambda: random.SystemRandom().random(),
    "numpy.random": lambda: np.random.random(),
    "numpy.random.rand": lambda: np.random.rand(),
    "a NumPy Generator": lambda: HELD.random(),
    "a fresh NumPy Generator": lambda: np.random.default_rng().random(),
    "a RandomState": lambda: OLD.uniform(),
    "a bit generator": lambda: HELD.bit_generator.random_raw() / 2**64,
    "torch.rand": lambda: torch.rand(1).item(),
    "torch, in place": lambda: torch.empty(1).uniform_().item(),
    "torch.multinomial": lambda: torch.multinomial(torch.tensor([0.5, 0.5]), 1).item(),
    "a torch Generator": lambda: torch.rand(1, generator=TORCH).item(),
    "os.urandom": lambda: os.urandom(1)[0] / 256,
    "secrets": lambda: secrets.randbelow(100) / 100,
    "secrets.token_bytes": lambda: secrets.token_bytes(1)[0] / 256,
    "uuid4": lambda: uuid.uuid4().int % 100 / 100,
    "uuid1": lambda: uuid.uuid1().time % 100 / 100,
    "time": lambda: time.time() % 1,
    "time_ns": lambda: time.time_ns() % 1000 / 1000,
    "perf_counter": lambda: time.perf_counter() % 1,
    "datetime": lambda: datetime.datetime.now().microsecond / 1e6,
    "id": lambda: id(object()) // 16 % 10 / 10,
    "hash of str": lambda: hash("token") % 10 / 10,
    "a global counter": global_counter,
    "a counter in a closure": closure(),
    "a counter in an attribute": Counting(),
    "a counter on the function": on_itself,
    "a mutable default": mutable_default,
    "a growing dictionary": growing_dictionary,
    "a dictionary of numbers": dictionary_of_numbers,
    "a growing list": global_list,
    "itertools.count": lambda: 1.0 if next(TICKS) % 1000 else 0.0,
    "itertools.cycle": lambda: next(ROUND),
    "a generator": lambda: next(NUMBERS) / 1000 + 0.1,
    "a counter in a slot": Slotted(),
    "a counter of the class": OfTheClass(),
    "a NumPy generator of the class": WithNumpy(),
    "a NumPy generator of another module": lambda: subjects_of_guests.rng.random(),
    "a counter in an array": in_an_array,
    "a counter in a tensor": in_a_tensor,
    "a generator made by the first call": made_by_the_first_call,
    "/dev/urandom": device,
    "/dev/random by its path": device_by_path,
    "/dev/urandom by its number": device_by_number,
    "/dev/urandom in bytes": device_in_bytes,
    "/dev/urandom by a roundabout path": device_by_a_roundabout_path,
    "/proc/sys/kernel/random/uuid": uuid_of_the_kernel,
    "/proc/self/stat": figures_of_the_kernel,
    "a counter in a namespace": in_a_namespace,
    "a generator in a namespace": lambda: SPACE.rng.random(),
    "a counter on a module of the library": on_another_module,
    "a bound method of a generator": HELD.random,
    "a generator in a list of lists": (lambda held: lambda: held[0][0].random())([[np.random.default_rng(4)]]),
    "numpy.random.permutation": lambda: np.random.permutation(10)[0] / 10,
    "scipy.stats": lambda: scipy.stats.uniform.rvs(),
    "how many objects there are": lambda: gc.get_count()[0] % 10 / 10,
    "an old thread": lambda: POOL.submit(random.random).result(),
    "a subprocess": lambda: int(subprocess.run(["true"], check=True).returncode) + 1.0,
    "the environment": lambda: os.environ.__setitem__("RHEOCHECK_TEST", "1") or 1.0,
    "a partial": functools.partial(PRIVATE.random),
}


def verifier_with(now_and_then):
    def verifier(p, children, chance):
        if now_and_then() < 0.1 and children:
            return children[0].token, True
        return matching(p, children, chance)

    return verifier


def rule_with(now_and_then):
    def rule(q, K, m):
        return rheo(q, K, 0 if now_and_then() < 0.1 else m)

    return rule


def builder_with(now_and_then):
    def builder(pair, context, chance, shape):
        return build(rheo if now_and_then() < 0.1 else sampled, pair, context, chance, shape)

    return builder


PLACES = {
    "verifier": lambda fault: verify(PAIR, rheo, verifier_with(fault), SHAPE),
    "rule": lambda fault: verify(PAIR, rule_with(fault), matching, SHAPE),
    "builder": lambda fault: verify(PAIR, builder_with(fault), matching, SHAPE),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_function_of_its_chance_is_refused_always(fault, place):
    """Not by luck: 20 of 20 fresh verifications, and the message says where, in this file."""
    for _ in range(TIMES):
        with pytest.raises(InputError, match="must depend on its chance alone") as refused:
            PLACES[place](FAULTS[fault])
        assert "test_guests.py:" in str(refused.value), str(refused.value)


def test_the_line_is_the_one_that_draws():
    """The line of the draw, not of the guest, both where a C call is seen and where only its effect is."""
    for name in ("random", "numpy.random", "a global counter", "a Random of a class"):
        function = FAULTS[name]
        code = getattr(function, "__code__", None) or function.__func__.__code__
        first, last = code.co_firstlineno, max(line for *_, line in code.co_lines() if line)
        with pytest.raises(InputError) as refused:
            PLACES["verifier"](function)
        line = int(str(refused.value).split("test_guests.py:")[1].split(";")[0])
        assert first <= line <= last, name


DOORS = {
    "certificate": lambda rule, verifier: certify(PAIR, rule, verifier, SHAPE),
    "verify, certificate": lambda rule, verifier: verify(PAIR, rule, verifier, SHAPE, method="certificate"),
    "several tokens": lambda rule, verifier: verify(PAIR, rule, verifier, SHAPE, tokens=3),
    "curves": lambda rule, verifier: sweep(PAIR, "m", [0, 1], [Method("guests", rule, verifier)], SHAPE),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("fault", ["random", "numpy.random", "a global counter", "itertools.cycle", "secrets"])
def test_at_every_front_door(door, fault):
    for rule, verifier in ((rule_with(FAULTS[fault]), matching), (rheo, verifier_with(FAULTS[fault]))):
        for _ in range(TIMES):
            if door.endswith("certificate") and verifier is not matching:
                assert refused_or_uncertified(door, rule, verifier)
            else:
                with pytest.raises(InputError, match="must depend on its chance alone"):
                    DOORS[door](rule, verifier)


def refused_or_uncertified(door, rule, verifier):
    """A certificate says why it cannot be given, where a verifier refuses a node."""
    try:
        return DOORS[door](rule, verifier).reason is not None
    except InputError:
        return True


def test_hypotheses_and_relabelled_builders_watch_too():
    with pytest.raises(InputError, match="must depend on its chance alone"):
        hypotheses(PAIR, rule_with(random.random), SHAPE)
    with pytest.raises(InputError, match="must depend on its chance alone"):
        verify(PAIR, relabel(rule_with(random.random)), matching, SHAPE)


def test_a_chance_is_over_when_its_call_is():
    """A verifier that asks the chance of an earlier call would take its first branch, weight 1, unseen."""
    kept = {}

    def late(p, children, chance):
        return matching(p, children, kept.setdefault("chance", chance))

    with pytest.raises(InputError, match="only while the call that it was given to runs"):
        verify(PAIR, rheo, late, SHAPE)
    chance = ReplayChance()
    chance.close()
    with pytest.raises(InputError, match="keep no chance"):
        chance.choose([1, 1])
    assert sum(weight for weight, *_ in outcomes(lambda chance: chance.flip(0.5))) == 1


def test_a_builder_may_not_change_the_pair():
    def greedy(pair, context, chance, shape):
        pair.draft[()] = pair.target[()]
        return build(rheo, pair, context, chance, shape)

    with pytest.raises(InputError, match="it changes its rows"):
        verify(PAIR, greedy, matching, SHAPE)


KEPT_BY_LAW, KEPT_BY_TREE = {}, {}


def kept_by_law(p, children, chance):
    law = tuple(p)
    if law not in KEPT_BY_LAW:
        KEPT_BY_LAW[law] = chance.choose(p), False
    return KEPT_BY_LAW[law]


def kept_by_tree(p, children, chance):
    key = tuple(p), tuple(child.token for child in children)
    if key not in KEPT_BY_TREE:
        KEPT_BY_TREE[key] = matching(p, children, chance)
    return KEPT_BY_TREE[key]


class Kept:
    def __init__(self):
        self.coins = {}

    def __call__(self, p, children, chance):
        if len(children) not in self.coins:
            self.coins[len(children)] = chance.flip(Fraction(1, 2))
        return (0, False) if self.coins[len(children)] else matching(p, children, chance)


@pytest.mark.parametrize("verifier", [kept_by_law, kept_by_tree, Kept()])
def test_a_verifier_may_not_keep_what_it_drew(verifier):
    """A dictionary may grow, since a cache of what was computed is no fault; a cache of draws asks for no choice."""
    with pytest.raises(InputError, match="other choices when asked again"):
        verify(PAIR, top_k, verifier, SHAPE)


def test_a_builder_may_not_keep_what_it_drew():
    seen = {}

    def builder(pair, context, chance, shape):
        if context not in seen:
            seen[context] = chance.choose(pair.q(context))
        token = seen[context]
        return Tree((Node(token, 1, pair.q(context)),))

    with pytest.raises(InputError, match="other choices, when asked again"):
        verify(PAIR, builder, recursive, SHAPE)


def test_the_answer_may_hang_on_what_was_asked_before_only_if_it_is_the_same():
    """A cache by a key that is too short answers with what it was asked first."""
    known = {}

    def short_key(p, children, chance):
        first = known.setdefault(len(children), p)
        return matching(first, children, chance)

    chain = Pair(2, {(): ["1/2", "1/2"]}, {(): ["1/4", "3/4"], (1,): ["1", "0"]})
    assert verify(chain, rheo, matching, Shape(depth=2, branching=2, nodes=2)).verdict == "lossless"
    assert verify(chain, rheo, short_key, Shape(depth=2, branching=2, nodes=2)).verdict == "biased"


def cached(function):
    known = {}

    def call(*arguments):
        if arguments not in known:
            known[arguments] = function(*arguments)
        return known[arguments]

    return call


class Part:
    """A verifier with settings, as people write them."""

    def __init__(self, strict):
        self.strict = strict
        self.laws = {}

    def __call__(self, p, children, chance):
        self.laws[p] = children
        return matching(p, children, chance)


weighted = cached(lambda law: tuple(sorted(law)))


def reading(p, children, chance):
    weighted(p)
    return matching(p, children, chance)


GOOD = {
    "plain": lambda p, children, chance: matching(p, children, chance),
    "an object": Part(strict=True),
    "a partial": functools.partial(matching),
    "with a cache": reading,
    "with torch": lambda p, children, chance: (
        (int(torch.tensor(matching(p, children, chance)[0])), bool(children))
        if not children
        else matching(p, children, chance)
    ),
    "with numpy": lambda p, children, chance: matching(p, children, chance) if np.arange(3).sum() else None,
}


@pytest.mark.parametrize("name", GOOD)
def test_what_is_a_function_of_its_chance_is_not_refused(name):
    assert verify(PAIR, rheo, GOOD[name], SHAPE).verdict == "lossless"
    assert verify(PAIR, functools.lru_cache(rheo), GOOD[name], SHAPE).verdict == "lossless"
