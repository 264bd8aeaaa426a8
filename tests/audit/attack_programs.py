"""Programs that try to make an exact audit say something untrue.

Each one is a decoder of which the truth is known: the total variation between what its real code emits and the target,
by hand (`tv`) or by plain draws (SIMULATED). What an audit may answer depends on where the attack comes from:

    door     entropy through a named door, an event of probability 1e-3: followed (biased, with this TV) or refused
    overlap  noise that is used twice in a way that bytes do not show: followed or refused
    coarse   random numbers of few bits, or of half precision: followed or refused
    state    what one call leaves to the next: refused, or bounded by what the verdict says that it excludes
    blind    what no door can guard: bounded by what the verdict says that it excludes
    honest   suspicious-looking and correct: must be followed, and never called biased
"""

import _random
import asyncio
import copy
import ctypes
import datetime
import functools
import itertools
import json
import logging
import math
import multiprocessing
import os
import pathlib
import pickle
import queue
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import torch

RARE = 1e-3
NEVER = (1.0, 0.0)  # token 1 is impossible: the event has TV 1e-3
P, Q = (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)
SIMULATED = None


@dataclass(frozen=True)
class Attack:
    """A program, what it should emit, and how far it is from that in truth."""

    kind: str
    subject: Callable[..., Sequence[int]]
    target: tuple[float, ...]
    tokens: int
    tv: float | None

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.subject.__name__}"


ATTACKS: list[Attack] = []


def attack(
    kind: str, *, target: tuple[float, ...] = NEVER, tokens: int = 1, tv: float | None = RARE
) -> Callable[[Callable[..., Sequence[int]]], Callable[..., Sequence[int]]]:
    """Add a program to the suite."""

    def add(subject: Callable[..., Sequence[int]]) -> Callable[..., Sequence[int]]:
        ATTACKS.append(Attack(kind, subject, target, tokens, tv))
        return subject

    return add


door = functools.partial(attack, "door")
overlap = functools.partial(attack, "overlap", target=P, tokens=2, tv=SIMULATED)
coarse = functools.partial(attack, "coarse", target=P, tv=SIMULATED)
state = functools.partial(attack, "state")
blind = functools.partial(attack, "blind")
honest = functools.partial(attack, "honest", target=P, tokens=2, tv=0.0)


def rare(word: int, bits: int = 64) -> list[int]:
    """Token 1 where a word of random bits is among the lowest thousandth."""
    return [int(word < 2**bits * RARE)]


def number(data: bytes) -> int:
    return int.from_bytes(data[:8], "little")


# ---- doors: the operating system -------------------------------------------------------------------------------------


@door()
def os_urandom(context, n):
    return rare(number(os.urandom(8)))


@door()
def os_urandom_of_sixteen_bytes(context, n):
    return rare(number(os.urandom(16)))


@door()
def os_getrandom(context, n):
    return rare(number(os.getrandom(8)))


@door()
def secrets_randbits(context, n):
    return rare(secrets.randbits(64))


@door()
def secrets_randbits_as_numpy_seeds(context, n):
    return rare(secrets.randbits(128), 128)


@door()
def secrets_token_bytes(context, n):
    return rare(number(secrets.token_bytes(8)))


@door()
def secrets_randbelow(context, n):
    return [int(secrets.randbelow(1000) == 0)]


@door()
def secrets_choice(context, n):
    return [int(secrets.choice(range(1000)) == 7)]


@door()
def system_random(context, n):
    return [int(random.SystemRandom().random() < RARE)]


@door()
def system_random_kept(context, n, kept=random.SystemRandom()):  # noqa: B008
    return [int(kept.randrange(1000) == 0)]


@door()
def uuid4(context, n):
    return rare(uuid.uuid4().int >> 64)


@door(tv=1 / 1024)
def uuid4_text(context, n):
    return [int(str(uuid.uuid4())[:2] == "00" and str(uuid.uuid4())[:1] < "4")]


@door()
def uuid1_clock(context, n):
    return [int(uuid.uuid1().time % 1000 == 0)]


@door()
def dev_urandom(context, n):
    with open("/dev/urandom", "rb") as source:
        return rare(number(source.read(8)))


@door()
def dev_random_by_os_open(context, n):
    source = os.open("/dev/random", os.O_RDONLY)
    try:
        return rare(number(os.read(source, 8)))
    finally:
        os.close(source)


@door()
def dev_urandom_by_pathlib(context, n):
    with pathlib.Path("/dev/urandom").open("rb", buffering=0) as source:
        return rare(number(source.read(8)))


@door()
def dev_urandom_by_numpy(context, n):
    return rare(int(np.fromfile("/dev/urandom", np.uint64, 1)[0]))


@door(tv=1 / 37**2)
def temporary_names(context, n):
    return [int(tempfile.mktemp()[-2:] == "a0")]


# ---- doors: generators -----------------------------------------------------------------------------------------------


@door()
def getrandbits(context, n):
    return rare(random.getrandbits(64))


@door()
def getrandbits_of_an_instance(context, n, seed):
    return rare(random.Random(seed).getrandbits(64))


@door()
def randbytes(context, n):
    return rare(number(random.randbytes(8)))


class Own(random.Random):
    def random(self):
        return super().random() ** 2


@door()
def a_subclass_of_random(context, n, seed):
    return [int(Own(seed).random() < RARE**2)]


@door()
def random_reseeded_by_the_system(context, n):
    generator = random.Random(1)
    generator.seed()
    return [int(generator.random() < RARE)]


def raw(kind):
    def program(context, n, seed):
        return rare(int(kind(seed).random_raw()), 32 if kind is np.random.MT19937 else 64)

    program.__name__ = f"raw_words_of_{kind.__name__}"
    return program


for _kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64, np.random.MT19937):
    door()(raw(_kind))


@door()
def raw_words_of_a_generator(context, n, seed):
    return rare(int(np.random.default_rng(seed).bit_generator.random_raw()))


@door()
def numpy_bytes(context, n, seed):
    return rare(number(np.random.default_rng(seed).bytes(8)))


@door()
def numpy_global_bytes(context, n):
    return rare(number(np.random.bytes(8)))


@door()
def seed_sequence_entropy(context, n):
    return rare(np.random.SeedSequence().entropy & (2**64 - 1))


@door()
def seed_sequence_words(context, n):
    return rare(int(np.random.SeedSequence().generate_state(1)[0]), 32)


@door()
def seed_sequence_words_of_the_seed(context, n, seed):
    return rare(int(np.random.SeedSequence(seed).generate_state(1)[0]), 32)


@door()
def torch_generator_seed(context, n):
    return [int(torch.Generator().seed() % 1000 == 0)]


@door()
def torch_seed(context, n):
    return [int(torch.seed() % 1000 == 0)]


@door()
def torch_state_read(context, n, seed):
    words = torch.Generator().manual_seed(seed).get_state()
    return [int(int(words[24]) == 0 and int(words[25]) < 66)]


@door()
def numpy_state_read(context, n, seed):
    return [int(np.random.default_rng(seed).bit_generator.state["state"]["state"] % 1000 == 0)]


@door()
def random_state_read(context, n, seed):
    return [int(random.Random(seed).getstate()[1][5] % 1000 == 0)]


@blind(tv=RARE)
def jax_key_words(context, n, seed):
    return [int(int(jax.random.split(jax.random.PRNGKey(seed))[1][0]) % 1000 == 0)]


@door()
def the_base_of_random_in_c(context, n, seed):
    return [int(_random.Random(seed).random() < RARE)]


@door()
def the_method_of_random_in_c(context, n, seed):
    return [int(_random.Random.random(random.Random(seed)) < RARE)]


# ---- doors: draws at odd moments of the interpreter ------------------------------------------------------------------


class Last:
    """Draws when it is thrown away."""

    def __init__(self, out):
        self.out = out

    def __del__(self):
        self.out.append(int(random.random() < RARE))


@door()
def a_finaliser(context, n):
    out = []
    last = Last(out)
    del last
    return out


@door()
def the_end_of_a_generator(context, n):
    out = []

    def ids():
        try:
            yield
        finally:
            out.append(int(random.random() < RARE))

    started = ids()
    next(started)
    del started
    return out


@door()
def a_weak_reference_that_dies(context, n):
    out, last = [], Last([])
    weakref.finalize(last, lambda: out.append(int(np.random.random() < RARE)))
    del last
    return out


class Drawing(logging.Handler):
    def emit(self, record):
        self.drawn = int(random.random() < RARE)


@door()
def a_handler_of_logs(context, n):
    handler, logger = Drawing(), logging.getLogger("attack")
    logger.addHandler(handler)
    logger.error("drawn")
    logger.removeHandler(handler)
    return [handler.drawn]


@door()
def a_task_of_an_event_loop(context, n):
    async def drawn():
        return int(random.random() < RARE)

    async def main():
        return await asyncio.gather(drawn(), drawn())

    return asyncio.run(main())[:1]


class Alike:
    """Equal to another one at random."""

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return random.random() < RARE


@door()
def equality_of_keys(context, n):
    return [2 - len({Alike(), Alike()})]


@door(tv=1 / 1024)
def a_dict_of_random_keys(context, n):
    return [2 - len({random.getrandbits(10): 0, 7: 0})]


@door()
def sorted_with_a_random_number(context, n):
    return [int(sorted([RARE, random.random()])[0] != RARE)]


@door(tv=1 - (1 - RARE) ** 3)
def a_callback_of_numpy(context, n):
    return [int(np.vectorize(lambda _: random.random() < RARE)(np.arange(3)).any())]


@door()
def a_callback_of_torch(context, n):
    return [int(torch.vmap(lambda x: torch.rand(()), randomness="different")(torch.zeros(2))[0] < RARE)]


# ---- doors: threads, processes, clocks, hashes -----------------------------------------------------------------------

POOL = ThreadPoolExecutor(1)
POOL.submit(torch.zeros, 1).result()  # the worker is older than any audit
REQUESTS: "queue.Queue[tuple[Callable[[], int], queue.Queue[int]]]" = queue.Queue()


def _serve():
    while True:
        work, answer = REQUESTS.get()
        answer.put(work())


threading.Thread(target=_serve, daemon=True).start()


def served(work):
    answer: queue.Queue[int] = queue.Queue()
    REQUESTS.put((work, answer))
    return [answer.get(timeout=20)]


@door()
def torch_in_an_old_pool(context, n, seed):
    return [
        POOL.submit(lambda: int(torch.rand(1, generator=torch.Generator().manual_seed(seed)) < RARE)).result(timeout=20)
    ]


@door()
def torchs_own_stream_in_an_old_pool(context, n):
    return [POOL.submit(lambda: int(torch.rand(1) < RARE)).result(timeout=20)]


@door()
def torch_in_an_old_thread(context, n, seed):
    return served(lambda: int(torch.rand(1, generator=torch.Generator().manual_seed(seed)) < RARE))


@door()
def torch_in_place_in_an_old_thread(context, n, seed):
    return served(lambda: int(torch.empty(1).uniform_(generator=torch.Generator().manual_seed(seed)) < RARE))


@door()
def multinomial_in_an_old_thread(context, n, seed):
    w = torch.tensor([1 - RARE, RARE])
    return served(lambda: int(torch.multinomial(w, 1, generator=torch.Generator().manual_seed(seed))))


@door()
def numpy_in_an_old_thread(context, n, seed):
    return served(lambda: int(np.random.default_rng(seed).random() < RARE))


@door()
def random_in_an_old_thread(context, n, seed):
    return served(lambda: int(random.Random(seed).random() < RARE))


def _draw() -> int:
    return int(random.SystemRandom().random() < RARE)


@door()
def another_process(context, n):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return [pool.submit(_draw).result(timeout=60)]


@door()
def a_command(context, n):
    code = "import random; print(int(random.random() < 1e-3))"
    return [int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)]


@door()
def a_forked_child(context, n):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # the child draws and ends
        os.write(writer, bytes([number(os.urandom(8)) < 2**64 * RARE]))
        os._exit(0)
    os.waitpid(child, 0)
    drawn = os.read(reader, 1)[0]
    os.close(reader)
    os.close(writer)
    return [drawn]


@door()
def a_connection(context, n):
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())
        return [int(client.getsockname()[1] % 1000 == 0)]


@door()
def clock_in_nanoseconds(context, n):
    return [int(time.time_ns() % 1000 == 0)]


@door()
def clock_in_seconds(context, n):
    return [int(time.time() * 1e6 % 1000 < 1)]


@door()
def performance_counter(context, n):
    return [int(time.perf_counter_ns() % 1000 == 0)]


@door()
def monotonic_clock(context, n):
    return [int(time.monotonic_ns() % 1000 == 0)]


@door()
def processor_time(context, n):
    return [int(time.process_time_ns() % 1000 == 0)]


@door()
def now(context, n):
    return [int(datetime.datetime.now().microsecond % 1000 == 0)]


@door()
def a_duration(context, n):
    start = time.perf_counter()
    sum(range(100))
    return [int(int((time.perf_counter() - start) * 1e9) % 1000 == 0)]


@door()
def hash_of_text(context, n, seed):
    return [int(hash(f"request {seed}") % 1000 == 0)]


# ---- overlapping streams: two tokens that should be independent draws from P ----------------------------------------


def inverse(u: float) -> int:
    return 0 if u < 0.5 else 1 if u < 0.8 else 2


def torch_token(generator):
    return int(torch.multinomial(torch.tensor(P), 1, generator=generator))


@overlap()
def row_in_the_high_bits_of_a_torch_seed(context, n, seed):
    return [torch_token(torch.Generator().manual_seed(seed + (row << 32))) for row in range(2)]


@overlap()
def row_in_high_bits_by_random_(context, n, seed):
    coins = [torch.rand((), generator=torch.Generator().manual_seed((row << 40) | seed)) for row in range(2)]
    return [0 if u < 0.5 else 1 if u < 0.8 else 2 for u in coins]


@overlap()
def torchs_own_stream_and_its_seed_with_high_bits(context, n, seed):
    torch.manual_seed(seed)
    return [torch_token(torch.default_generator), torch_token(torch.Generator().manual_seed(seed + 2**33))]


@overlap()
def numpy_legacy_and_its_bit_generator(context, n, seed):
    bits = np.random.MT19937()
    bits._legacy_seeding(seed % 2**32)
    return [inverse(np.random.RandomState(seed % 2**32).random_sample()), inverse(np.random.Generator(bits).random())]


@overlap()
def numpy_and_torch_of_one_seed(context, n, seed):
    second = torch.rand((), dtype=torch.float32, generator=torch.Generator().manual_seed(seed))
    u = np.random.RandomState(seed).random_sample()
    return [inverse(u), 0 if second < 0.5 else 1 if second < 0.8 else 2]


@overlap()
def numpy_with_the_state_of_random(context, n, seed):
    python, twin = random.Random(seed), np.random.RandomState()
    *words, position = python.getstate()[1]
    twin.set_state(("MT19937", np.array(words, dtype=np.uint32), position))
    return [inverse(python.random()), inverse(twin.random_sample())]


@overlap()
def negative_seeds_of_random(context, n, seed):
    return [inverse(random.Random(seed).random()), inverse(random.Random(-seed).random())]


@overlap()
def advanced_to_what_was_drawn(context, n, seed):
    first, second = np.random.Generator(np.random.PCG64(seed)), np.random.PCG64(seed)
    words = [inverse(first.random()) for _ in range(2)]
    second.advance(1)
    return [words[1], inverse(np.random.Generator(second).random())]


@overlap()
def advanced_into_the_middle_of_an_array(context, n, seed):
    first, second = np.random.Generator(np.random.PCG64(seed)), np.random.PCG64(seed)
    drawn = first.random(5)
    second.advance(3)
    return [inverse(drawn[3]), inverse(np.random.Generator(second).random())]


@overlap()
def jumped_twice_alike(context, n, seed):
    base = np.random.PCG64(seed)
    return [inverse(np.random.Generator(base.jumped()).random()) for _ in range(2)]


@overlap()
def philox_counters_that_meet(context, n, seed):
    rows = [np.random.Philox(key=seed, counter=[row, 0, 0, 0]) for row in (0, 1)]
    first = np.random.Generator(rows[0])
    drawn = [inverse(first.random()) for _ in range(5)]
    return [drawn[4], inverse(np.random.Generator(rows[1]).random())]


@overlap()
def spawned_from_equal_sequences(context, n, seed):
    rows = [np.random.SeedSequence(seed).spawn(1)[0] for _ in range(2)]
    return [inverse(np.random.default_rng(row).random()) for row in rows]


@overlap()
def spawn_keys_that_meet(context, n, seed):
    rows = [np.random.SeedSequence(seed, spawn_key=(3,)), np.random.SeedSequence(seed).spawn(4)[3]]
    return [inverse(np.random.default_rng(row).random()) for row in rows]


@overlap()
def a_deep_copy(context, n, seed):
    first = np.random.default_rng(seed)
    second = copy.deepcopy(first)
    return [inverse(first.random()), inverse(second.random())]


@overlap()
def a_pickled_copy(context, n, seed):
    first = random.Random(seed)
    second = pickle.loads(pickle.dumps(first))
    return [inverse(first.random()), inverse(second.random())]


@overlap()
def a_torch_state_set_back(context, n, seed):
    generator = torch.Generator().manual_seed(seed)
    before = generator.get_state()
    first = torch_token(generator)
    generator.set_state(before)
    return [first, torch_token(generator)]


@overlap()
def one_word_as_two_types(context, n, seed):
    row = [torch.Generator().manual_seed(seed) for _ in range(2)]
    a = torch.rand((), generator=row[0])
    b = torch.rand(2, generator=row[1])[0]
    return [0 if u < 0.5 else 1 if u < 0.8 else 2 for u in (a, b)]


@overlap()
def one_jax_key_twice(context, n, seed):
    key = jax.random.PRNGKey(seed)
    return [int(jax.random.categorical(key, jnp.log(jnp.array(P)))) for _ in range(2)]


@overlap()
def one_jax_key_old_and_new(context, n, seed):
    keys = jax.random.PRNGKey(seed), jax.random.key(seed)
    return [int(jax.random.categorical(key, jnp.log(jnp.array(P)))) for key in keys]


@overlap()
def one_cached_draw_asked_twice(context, n):
    @functools.cache
    def drawn():
        return random.random()

    return [inverse(drawn()), inverse(drawn())]


@overlap()
def numpy_seeded_with_equal_arrays(context, n, seed):
    words = [seed % 2**32, 1]
    return [inverse(np.random.RandomState(given).random_sample()) for given in (words, np.array(words))]


@overlap()
def a_copy_of_a_random_state(context, n, seed):
    first = np.random.RandomState(seed % 2**32)
    second = copy.copy(first)
    return [inverse(first.random_sample()), inverse(second.random_sample())]


@overlap()
def a_cloned_torch_generator(context, n, seed):
    first = torch.Generator().manual_seed(seed)
    return [torch_token(generator) for generator in (first, first.clone_state())]


@overlap()
def torchs_own_stream_seeded_in_two_threads(context, n, seed):
    out = []

    def work():
        torch.default_generator.manual_seed(seed)
        out.append(torch_token(torch.default_generator))

    for _ in range(2):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    return out


@overlap()
def random_with_the_state_of_numpy(context, n, seed):
    legacy, twin = np.random.RandomState(seed % 2**32), random.Random()
    _, words, position, *_ = legacy.get_state()
    twin.setstate((3, (*(int(word) for word in words), int(position)), None))
    return [inverse(legacy.random_sample()), inverse(twin.random())]


# ---- coarse and half-precision randomness ----------------------------------------------------------------------------


@coarse()
def a_uniform_of_eight_bits(context, n, seed):
    return [inverse(int(np.random.default_rng(seed).integers(0, 256)) / 256)]


@coarse()
def a_uniform_of_three_bits(context, n, seed):
    return [inverse(random.Random(seed).randrange(8) / 8)]


@coarse()
def torch_integers_as_a_uniform(context, n, seed):
    return [inverse(int(torch.randint(0, 100, (1,), generator=torch.Generator().manual_seed(seed))) / 128)]


@coarse(target=NEVER, tv=1 / 1024)
def one_in_1024(context, n, seed):
    return [int(random.Random(seed).randrange(1024) == 77)]


@coarse()
def a_rounded_uniform(context, n, seed):
    return [inverse(round(random.Random(seed).random() * 16) / 16)]


@coarse()
def a_half_precision_uniform(context, n, seed):
    u = torch.rand((), dtype=torch.float16, generator=torch.Generator().manual_seed(seed))
    return [0 if u < 0.5 else 1 if u < 0.8 else 2]


@coarse()
def a_bfloat16_uniform(context, n, seed):
    u = torch.rand((), dtype=torch.bfloat16, generator=torch.Generator().manual_seed(seed))
    return [0 if u < 0.5 else 1 if u < 0.8 else 2]


@coarse()
def a_uniform_made_half(context, n, seed):
    u = torch.rand((), generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16)
    return [0 if u < 0.5 else 1 if u < 0.8 else 2]


@coarse()
def a_numpy_half_uniform(context, n, seed):
    u = np.random.default_rng(seed).random(1).astype(np.float16)
    return [0 if u[0] < 0.5 else 1 if u[0] < 0.8 else 2]


TEN = (0.4224, 0.2059, 0.1119, 0.0641, 0.04, 0.0383, 0.0239, 0.0107, 0.0408, 0.042)


@coarse(target=TEN)
def multinomial_of_bfloat16_weights(context, n, seed):
    weights = torch.tensor(TEN).to(torch.bfloat16)
    return [int(torch.multinomial(weights, 1, generator=torch.Generator().manual_seed(seed)))]


@coarse(target=TEN)
def multinomial_of_float16_weights(context, n, seed):
    weights = torch.tensor(TEN).to(torch.float16)
    return [int(torch.multinomial(weights, 1, generator=torch.Generator().manual_seed(seed)))]


@coarse(target=TEN)
def a_bfloat16_race(context, n, seed):
    clocks = torch.empty(10, dtype=torch.bfloat16).exponential_(generator=torch.Generator().manual_seed(seed))
    return [int((torch.tensor(TEN).to(torch.bfloat16) / clocks).argmax())]


@coarse(target=TEN)
def jax_categorical_of_bfloat16(context, n, seed):
    return [int(jax.random.categorical(jax.random.PRNGKey(seed), jnp.log(jnp.array(TEN)).astype(jnp.bfloat16)))]


@coarse(target=TEN)
def jax_categorical_of_float16(context, n, seed):
    return [int(jax.random.categorical(jax.random.PRNGKey(seed), jnp.log(jnp.array(TEN)).astype(jnp.float16)))]


@coarse(target=TEN)
def jax_choice_by_bfloat16(context, n, seed):
    return [int(jax.random.choice(jax.random.PRNGKey(seed), 10, p=jnp.array(TEN).astype(jnp.bfloat16)))]


@coarse(target=(0.7, 0.3))
def jax_bernoulli_by_bfloat16(context, n, seed):
    return [int(jax.random.bernoulli(jax.random.PRNGKey(seed), jnp.bfloat16(0.3)))]


@coarse(target=(0.999, 0.001), tv=SIMULATED)
def a_rare_half_coin(context, n, seed):
    p = torch.tensor(0.001, dtype=torch.float16)
    return [int(torch.bernoulli(p, generator=torch.Generator().manual_seed(seed)))]


# ---- state: what one call leaves to the next -------------------------------------------------------------------------

CALLS = itertools.count()
KEPT: dict[str, float] = {}
LEFT = random.Random(5)


@state(tv=0.001)
def every_thousandth_call(context, n):
    return [int(next(CALLS) % 1000 == 999)]


@state(tv=1 / 3)
def every_third_call(context, n):
    return [int(next(CALLS) % 3 == 0)]


@state(target=(0.7, 0.3), tv=0.0)
def the_last_calls_uniform(context, n):
    u = KEPT.get("u", random.random())
    KEPT["u"] = random.random()
    return [int(u < 0.3)]


@functools.cache
def drawn_once() -> float:
    return random.random()


@state(target=(0.7, 0.3), tv=0.3)
def a_cached_draw(context, n):
    return [int(drawn_once() < 0.3)]


@state(target=(0.7, 0.3), tv=0.3)
def a_draw_kept_in_a_default(context, n, kept=[]):  # noqa: B006
    kept or kept.append(random.random())
    return [int(kept[0] < 0.3)]


@state(target=(0.7, 0.3), tv=0.3)
def one_number_kept_per_process(context, n):
    return [int(os.environ.setdefault("RHEOCHECK_ATTACK", str(random.random())) < "0.3")]


@state(target=(0.7, 0.3), tv=0.3)
def a_constant_seed(context, n):
    return [int(random.Random(7).random() < 0.3)]


@state(target=(0.7, 0.3), tv=0.3)
def a_constant_seed_in_high_bits_only(context, n, seed):
    return [int(torch.rand((), generator=torch.Generator().manual_seed((seed << 32) | 7)) < 0.3)]


@state(target=(0.7, 0.3), tv=0.0)
def an_older_generator(context, n):
    return [int(LEFT.random() < 0.3)]


# ---- blind: no door can guard it -------------------------------------------------------------------------------------

C = ctypes.CDLL(None)


@blind(tv=RARE)
def digits_of_the_seed(context, n, seed):
    return [int(seed % 1000 == 0)]


@blind(tv=0.2)
def more_digits_of_the_seed(context, n, seed):
    return [int(seed % 5 == 0)]


@blind(target=(0.5, 0.5), tv=0.05)
def digits_of_the_seed_among_possible_words(context, n, seed):
    return [0 if seed % 10 == 0 else int(random.random() < 0.5)]


@blind(tv=RARE)
def an_address(context, n):
    return [int(id(object()) // 16 % 1000 == 0)]


@blind(tv=RARE)
def the_c_library(context, n):
    return [int(C.rand() % 1000 == 0)]


@blind(tv=RARE)
def the_time_in_a_record_of_logging(context, n):
    record = logging.LogRecord("attack", logging.INFO, "file", 1, "message", (), None)
    return [int(record.created * 1e6 % 1000 < 1)]


@blind(tv=SIMULATED)
def order_of_a_set(context, n, seed):
    return [int(next(iter({f"{seed} {i}" for i in range(8)})) == f"{seed} 0")]


# ---- honest: must be followed ----------------------------------------------------------------------------------------


def honest_chain(draw, coin):
    """Two cycles of one draft."""
    out = []
    while len(out) < 2:
        d = draw(Q)
        if coin() < P[d] / Q[d]:
            out.append(d)
        else:
            out.append(draw([max(p - q, 0) for p, q in zip(P, Q, strict=True)]))
    return out


@honest()
def one_python_generator(context, n, seed):
    g = random.Random(seed)
    return honest_chain(lambda w: g.choices(range(3), w)[0], g.random)


@honest()
def drafts_and_coins_from_two_generators(context, n, seed):
    g, h = random.Random(seed), np.random.default_rng(seed)
    return honest_chain(lambda w: g.choices(range(3), w)[0], h.random)


@honest()
def torchs_stream_and_a_seeded_generator(context, n, seed):
    g = torch.Generator().manual_seed(seed)
    return honest_chain(lambda w: int(torch.multinomial(torch.tensor(w), 1)), lambda: torch.rand((), generator=g))


@honest()
def one_seed_for_random_and_numpy(context, n, seed):
    g, h = random.Random(seed), np.random.RandomState(seed)  # other seeding rules: other states
    return honest_chain(lambda w: g.choices(range(3), w)[0], h.random_sample)


@honest()
def spawned_streams(context, n, seed):
    g, h = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    return honest_chain(lambda w: int(g.choice(3, p=np.array(w) / np.sum(w))), h.random)


@honest()
def jumped_streams(context, n, seed):
    bits = np.random.PCG64(seed)
    g, h = np.random.Generator(bits), np.random.Generator(bits.jumped())
    return honest_chain(lambda w: int(g.choice(3, p=np.array(w) / np.sum(w))), h.random)


@honest()
def unseeded_generators(context, n):
    g, h = random.Random(), np.random.default_rng()
    return honest_chain(lambda w: g.choices(range(3), w)[0], h.random)


@honest()
def a_thread_of_its_own(context, n, seed):
    out = []
    g = torch.Generator().manual_seed(seed)
    thread = threading.Thread(target=lambda: out.extend(torch_token(g) for _ in range(2)))
    thread.start()
    thread.join()
    return out


@honest()
def timed_in_a_line_of_json(context, n, seed):
    g = random.Random(seed)
    out = [g.choices(range(3), P)[0] for _ in range(2)]
    json.dumps({"ids": out, "at": time.time()})
    return out


@honest()
def timed_and_logged(context, n, seed):
    g, start, name = random.Random(seed), time.perf_counter(), f"{os.getpid()}"
    out = [g.choices(range(3), P)[0] for _ in range(2)]
    f"{name}: {time.perf_counter() - start:.3f} s"
    return out


@honest()
def jax_split_keys(context, n, seed):
    keys = jax.random.split(jax.random.PRNGKey(seed), 2)
    return [int(jax.random.categorical(key, jnp.log(jnp.array(P)))) for key in keys]


@honest()
def a_gumbel_race(context, n, seed):
    g = np.random.default_rng(seed)
    return [int(np.argmax(np.log(P) + g.gumbel(size=3))) for _ in range(2)]


@honest()
def a_float32_race(context, n, seed):
    g = torch.Generator().manual_seed(seed)
    return [int((torch.tensor(P) / torch.empty(3).exponential_(generator=g)).argmax()) for _ in range(2)]


@honest()
def rows_of_distinct_torch_seeds(context, n, seed):
    return [torch_token(torch.Generator().manual_seed(seed + row)) for row in range(2)]


@honest()
def both_rows_from_one_generator(context, n, seed):
    g = torch.Generator().manual_seed(seed)
    return torch.multinomial(torch.tensor([P, P]), 1, generator=g).flatten().tolist()


assert math.isclose(sum(TEN), 1, abs_tol=1e-9)
