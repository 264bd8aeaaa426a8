"""The doors by which entropy enters a process: each followed with its true law, or refused by its name.

Every program emits 1 with a small probability (1e-3 or 3e-2) that no audit may overlook. No test here is random in
its outcome: a door is shut whatever comes through it, so that 20 audits with fresh seeds must agree.
"""

import asyncio
import copy
import ctypes
import datetime
import functools
import gc
import hashlib
import json
import math
import multiprocessing
import os
import pathlib
import queue
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
import timeit
import uuid
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest
import torch
from hypothesis.internal.conjecture.junkdrawer import gc_cumulative_time

from rheocheck.intercept import NotUnderstood, enumerate_law
from rheocheck.intercept.doors_torch import refuse_devices

SEEDS = 20
REFUSED, FOLLOWED = [], []

OLD_POOL = ThreadPoolExecutor(1)
OLD_POOL.submit(torch.zeros, 1).result()  # its worker is older than every audit
OLD_THREADS = ThreadPool(1)
OLD_BITS, OLD_LEGACY = np.random.PCG64(3), np.random.MT19937(3)
OLD_RANDOM = random.SystemRandom()
URANDOM, CLOCK = functools.partial(os.urandom, 1), [time.time_ns]
TASKS, DONE = queue.SimpleQueue(), queue.SimpleQueue()


def worker_of_old():
    while True:
        try:
            DONE.put(TASKS.get()())
        except Exception as error:
            DONE.put(error)


threading.Thread(target=worker_of_old, daemon=True).start()


def refused(door):
    """A program that must be refused by the door's name."""

    def add(program):
        REFUSED.append(pytest.param(program, door, id=program.__name__))
        return program

    return add


def follows(law):
    """A program that must be followed, with its law."""

    def add(program):
        FOLLOWED.append(pytest.param(program, law, id=program.__name__))
        return program

    return add


RARE = {0: 0.999, 1: 0.001}
QUARTER = {0: 0.75, 1: 0.25}


def coin(generator=None, p=0.25):
    return int(torch.rand(1, dtype=torch.float64, generator=generator) < p)


def fresh():
    generator = torch.Generator()
    generator.seed()
    return generator


# ---- the operating system --------------------------------------------------------------------------------------------


@refused("os.urandom")
def bytes_of_the_system():
    return int(int.from_bytes(os.urandom(8)) < 2**64 * 0.001)


@refused("os.urandom")
def sixteen_bytes_of_the_system():
    return int(int.from_bytes(os.urandom(16)) < 2**128 * 0.001)


@refused("os.urandom")
def bytes_by_a_default_argument(draw=os.urandom):
    return int(draw(1)[0] == 0)


@refused("os.urandom")
def bytes_by_a_partial():
    return int(URANDOM()[0] == 0)


@refused("os.urandom")
def a_token_of_secrets():
    return int(secrets.token_hex(2) == "0000")


@refused("os.getrandom")
def getrandom():
    return int(os.getrandom(1)[0] == 0)


@refused("getrandbits")
def secret_bits():
    return int(secrets.randbits(128) < 2**128 * 0.03)


@refused("getrandbits")
def bits_of_the_system():
    return int(random.SystemRandom().getrandbits(64) % 1000 == 0)


@refused("getrandbits")
def many_bits():
    return int(random.getrandbits(32) < 2**32 * 0.001)


@refused("getrandbits")
def many_bits_of_an_instance():
    return int(random.Random().getrandbits(64) % 1000 == 0)


@refused("randbytes")
def random_bytes():
    return int(random.randbytes(2) == b"\0\0")


class OwnBits(random.Random):
    def getrandbits(self, k):
        return super().getrandbits(k)


@refused("subclass of random.Random")
def bits_of_a_subclass():
    return int(OwnBits().randrange(1000) == 0)


@refused("uuid.uuid4")
def a_random_uuid():
    return int(uuid.uuid4().int % 1000 == 0)


@refused("uuid.uuid1")
def a_uuid_of_the_clock():
    return int(uuid.uuid1().time_low % 1000 == 0)


@refused("/dev/urandom")
def a_device_opened():
    with open("/dev/urandom", "rb") as device:
        return int(device.read(1) == b"\0")


@refused("/dev/random")
def a_device_opened_low():
    descriptor = os.open("/dev/random", os.O_RDONLY)
    try:
        return int(os.read(descriptor, 1) == b"\0")
    finally:
        os.close(descriptor)


@refused("urandom")
def a_device_by_the_folder_that_it_is_in():
    folder = os.open("/dev", os.O_RDONLY)
    descriptor = os.open("urandom", os.O_RDONLY, dir_fd=folder)
    try:
        return int(os.read(descriptor, 1) == b"\0")
    finally:
        os.close(descriptor)
        os.close(folder)


@refused("/dev/urandom")
def a_device_as_a_path():
    return int(pathlib.Path("/dev/urandom").open("rb").read(1) == b"\0")


@refused("/dev/urandom")
def a_device_by_another_name():
    return int(open("/dev/../dev/urandom", "rb").read(1) == b"\0")


@refused("/dev/urandom")
def a_device_read_by_numpy():
    return int(np.fromfile("/dev/urandom", dtype=np.uint8, count=1)[0] == 0)


@refused("ctypes")
def the_c_library():
    return int(ctypes.CDLL(None).rand() % 1000 == 0)


# ---- NumPy and torch -------------------------------------------------------------------------------------------------


@refused("PCG64.random_raw")
def a_raw_word(seed=0):
    return int(np.random.PCG64(seed).random_raw() < 2**64 * 0.03)


@refused("MT19937.random_raw")
def a_raw_word_of_the_twister():
    return int(np.random.MT19937().random_raw() % 1000 == 0)


@refused("Philox.ctypes")
def words_by_ctypes():
    interface = np.random.Philox().ctypes
    return int(interface.next_uint64(interface.state) % 1000 == 0)


@refused("SFC64.cffi")
def words_by_cffi():
    return int(np.random.SFC64().cffi is None)


@refused("PCG64DXSM.capsule")
def words_by_the_capsule():
    return int(np.random.PCG64DXSM().capsule is None)


@refused("PCG64.random_raw")
def a_raw_word_behind_a_generator():
    return int(np.random.default_rng()._bit_generator.random_raw() < 2**64 * 0.001)


@refused("PCG64")
def a_raw_word_of_an_older_one():
    return int(OLD_BITS.random_raw() < 2**64 * 0.001)


@refused("MT19937")
def a_raw_word_of_an_older_twister():
    return int(OLD_LEGACY.random_raw() % 1000 == 0)


@refused("the state of numpy's PCG64")
def a_state_read():
    return int(np.random.PCG64().state["state"]["state"] % 1000 == 0)


@refused("the state of numpy's MT19937")
def words_of_the_twister_s_state():
    return int(np.random.MT19937().state["state"]["key"][0] < 2**32 * 0.001)


@refused("the entropy of a numpy SeedSequence")
def entropy_of_a_sequence():
    return int(np.random.SeedSequence().entropy % 1000 == 0)


@refused("the entropy of a numpy SeedSequence")
def words_of_a_sequence():
    return int(np.random.SeedSequence().generate_state(1)[0] % 1000 == 0)


@refused("the entropy of a numpy SeedSequence")
def words_of_a_spawned_sequence():
    return int(np.random.SeedSequence().spawn(1)[0].generate_state(1, np.uint64)[0] % 1000 == 0)


@refused("the seed that torch drew")
def a_seed_of_torch():
    return int(torch.seed() % 1000 == 0)


@refused("the seed that torch drew")
def a_seed_of_a_generator():
    return int(torch.Generator().seed() % 1000 == 0)


@refused("the seed that torch drew")
def an_initial_seed_that_was_drawn():
    return int(fresh().initial_seed() % 1000 == 0)


@refused("the seed that torch drew")
def a_state_that_was_drawn():
    return int(fresh().get_state()[0] == 0)


# ---- processes, network ----------------------------------------------------------------------------------------------


@refused("a subprocess")
def a_child():
    return int(subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True).stdout == b"0")


@refused("os.system")
def a_command():
    return int(os.system("exit 0") != 0)


@refused("os.fork")
def a_fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    return int(os.waitpid(child, 0)[1] != 0)


@refused("os.posix_spawn")
def a_spawn():
    return int(os.posix_spawn("/bin/true", ["true"], {}) == 0)


@refused("another process")
def a_process_of_multiprocessing():
    process = multiprocessing.get_context("spawn").Process(target=print)
    process.start()
    return 0


@refused("a random name of tempfile")  # of the first semaphore that the pool makes
def a_pool_of_processes():
    with ProcessPoolExecutor(1) as pool:
        return pool.submit(int).result()


CAT = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
ITEMS = multiprocessing.get_context("fork").Queue()
ITEMS.put(0)


@pytest.fixture(scope="module", autouse=True)
def _end_of_cat():
    yield
    CAT.stdin.close()
    CAT.stdout.close()
    CAT.wait()


@refused("another process")
def a_child_that_was_there():
    CAT.stdin.write(b"0\n")
    CAT.stdin.flush()
    return int(CAT.stdout.readline() == b"1")


@refused("another process")
def a_queue_between_processes():
    return ITEMS.get()


@refused("a network connection")
def a_connection():
    with socket.socket() as one:
        one.connect(("127.0.0.1", 9))
    return 0


@refused("data from the network")
def a_connection_that_was_there():
    HERE.send(b"0")
    return int(THERE.recv(1) == b"1")


HERE, THERE = socket.socketpair()


# ---- clocks, and the hash of a string --------------------------------------------------------------------------------


@refused("time.time_ns")
def the_clock():
    return int(time.time_ns() % 1000 == 0)


@refused("time.time_ns")
def the_clock_by_a_default_argument(clock=time.time_ns):
    return int(clock() % 1000 == 0)


@refused("time.time_ns")
def the_clock_in_a_list():
    return int(CLOCK[0]() % 1000 == 0)


@refused("time.time")
def the_clock_as_an_integer():
    return int(int(time.time() * 1e6) % 1000 == 0)


@refused("time.perf_counter")
def a_span():
    start = time.perf_counter()
    return int((time.perf_counter() - start) * 1e9 % 1000 < 1)


@refused("time.perf_counter")
def the_timer_of_timeit():
    return int(timeit.default_timer() * 1e9 % 1000 < 1)


@refused("time.monotonic_ns")
def the_clock_of_a_worker():
    return int(OLD_POOL.submit(time.monotonic_ns).result() % 1000 == 0)


@refused("time.process_time_ns")
def the_clock_as_an_index():
    return ([1] + [0] * 999)[time.process_time_ns() % 1000]


@refused("time.time")
def the_clock_against_a_coin():
    return int(random.random() < time.time() % 1)


@refused("time.time_ns")
def the_clock_in_an_array():
    return int(np.array([time.time_ns()], dtype=np.int64)[0] % 1000 == 0)


@refused("time.time_ns")
def the_clock_read_from_its_text():
    return int(str(time.time_ns())[-3:] == "000")


@refused("time.time_ns")
def the_clock_in_a_digest():
    return int(hashlib.sha256(str(time.time_ns()).encode()).digest()[0] == 0)


@refused("time.time_ns")
def the_clock_as_a_key():
    return int(hash(time.time_ns()) % 1000 == 0)


class Clocked:
    clock = time.time_ns


@refused("time.time_ns")
def the_clock_of_a_class():
    return int(Clocked().clock() % 1000 == 0)


@refused("event loop")
def the_clock_of_an_event_loop():
    loop = asyncio.new_event_loop()
    try:
        return int(loop.time() * 1e9 % 1000 < 1)
    finally:
        loop.close()


@refused("time.time_ns")
def the_sum_of_the_clock_s_digits():
    return int(sum(int(digit) for digit in f"{time.time_ns():d}") % 1000 == 0)


@refused("time.time_ns")
def the_clock_in_a_function_of_c():
    return int(math.fmod(time.time_ns(), 1000) == 0)


@refused("time.perf_counter")
def the_clock_as_an_array():
    return int(np.array(time.perf_counter()) * 1e9 % 1000 < 1)


@refused("time.perf_counter")
def the_clock_as_a_tensor():
    return int(torch.tensor(time.perf_counter(), dtype=torch.float64) * 1e9 % 1000 < 1)


@refused("datetime.now")
def a_span_of_dates():
    since = datetime.datetime.now() - datetime.datetime(2020, 1, 1)
    return int(since.total_seconds() * 1e6 % 1000 < 1)


@refused("datetime.now")
def a_date():
    return int(datetime.datetime.now().microsecond % 1000 == 0)


@refused("datetime.utcnow")
def a_date_as_seconds():
    return int(datetime.datetime.utcnow().timestamp() % 1 < 0.001)


@refused("time.localtime")
def a_second():
    return int(time.localtime().tm_sec == 0)


@refused("the hash of a string")
def a_hash():
    return int(hash("salt") % 1000 == 0)


@dataclass(frozen=True)
class Named:
    name: str


@refused("the hash of a string")
def a_hash_of_an_object():
    return int(hash(Named("salt")) % 1000 == 0)


@refused("the hash of a string")
def a_hash_of_a_tuple():
    return int(hash((1, b"salt")) % 1000 == 0)


# ---- what stays followed ---------------------------------------------------------------------------------------------


@follows(QUARTER)
def a_generator_without_a_seed():
    return int(np.random.default_rng().random() < 0.25)


@follows(QUARTER)
def bits_in_a_generator():
    return int(np.random.Generator(np.random.PCG64()).random() < 0.25)


@follows(QUARTER)
def bits_of_every_kind():
    kinds = np.random.MT19937, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64
    heads = [np.random.Generator(kind()).random() < 0.25 for kind in kinds]
    return int(heads[0])


@follows(QUARTER)
def a_legacy_generator_without_a_seed():
    return int(np.random.RandomState().rand() < 0.25)


@follows(QUARTER)
def a_spawned_sequence():
    return int(np.random.default_rng(np.random.SeedSequence().spawn(2)[1]).random() < 0.25)


@follows(QUARTER)
def the_entropy_as_a_seed():
    return int(np.random.default_rng(np.random.SeedSequence().entropy).random() < 0.25)


@follows(QUARTER)
def secret_bits_as_a_seed():
    return int(np.random.default_rng(secrets.randbits(128)).random() < 0.25)


@follows(QUARTER)
def bits_as_a_seed():
    return coin(torch.Generator().manual_seed(random.getrandbits(63)))


@follows(RARE)
def numbers_of_the_system():
    return int(random.SystemRandom().random() < 0.001)


@follows({0: 0.5, 1: 0.5})
def a_choice_of_the_system():
    return OLD_RANDOM.choice([0, 1])


@follows(RARE)
def a_secret_below():
    return int(secrets.randbelow(1000) == 0)


@follows({0: 0.25, 1: 0.5, 2: 0.25})
def two_draws_of_the_system_are_two():
    return secrets.choice([0, 1]) + secrets.choice([0, 1])


@follows({0: 7 / 8, 1: 1 / 8})
def a_few_bits():
    return int(random.getrandbits(3) == 0)


@follows({0: 0.75, 3: 0.25})
def a_state_put_back():
    bits = np.random.PCG64()
    generator, state = np.random.Generator(bits), bits.state
    first = generator.random() < 0.25
    bits.state = state
    return int(first) + 2 * int(generator.random() < 0.25)


@follows({0: 0.75, 3: 0.25})
def a_generator_copied():
    one = np.random.default_rng()
    other = copy.deepcopy(one)
    return int(one.random() < 0.25) + 2 * int(other.random() < 0.25)


@follows({0: 0.97, 1: 0.03})
def a_draw_in_an_older_pool():
    return OLD_POOL.submit(coin, fresh(), 0.03).result()


@follows(RARE)
def a_draw_in_an_older_pool_of_threads():
    return OLD_THREADS.apply(coin, (fresh(), 0.001))


@follows(RARE)
def a_draw_in_an_older_thread():
    generator = fresh()
    TASKS.put(lambda: coin(generator, 0.001))
    return DONE.get(timeout=60)


@follows(RARE)
def a_draw_in_an_older_thread_by_a_method():
    generator = fresh()
    TASKS.put(lambda: int(torch.full((1,), 0.001, dtype=torch.float64).bernoulli(generator=generator)))
    return DONE.get(timeout=60)


@follows({0: 0.25, 1: 0.5, 2: 0.25})
def draws_here_and_in_a_thread():
    generator = fresh()
    return coin(generator, 0.5) + OLD_POOL.submit(coin, generator, 0.5).result()


@follows(QUARTER)
def a_call_that_times_itself():
    start, now = time.perf_counter(), datetime.datetime.now()
    token = int(random.random() < 0.25)
    with open(os.devnull, "w") as log:
        print(f"{now:%H:%M} took {time.perf_counter() - start:.3f} s", "%.1f" % time.time(), now, file=log)  # noqa: UP031
    time.sleep(0)
    return token


@follows(QUARTER)
def the_clock_as_a_seed():
    random.seed(time.time_ns())
    return int(random.random() < 0.25)


@follows(QUARTER)
def the_clock_as_a_seed_of_all():
    seed = time.time_ns() % 2**32
    np.random.seed(seed)
    torch.manual_seed(seed)
    return int(np.random.rand() < 0.25)


@follows(QUARTER)
def the_clock_as_a_seed_of_an_instance():
    return int(random.Random(time.time()).random() < 0.25)


@follows(QUARTER)
def a_hash_as_a_key():
    return {hash("coin"): int(random.random() < 0.25)}[hash("coin")]


@follows(QUARTER)
def an_object_as_a_key():
    return {Named("coin"): int(random.random() < 0.25)}[Named("coin")]


@follows({2: 1})
def a_hash_of_numbers():
    return hash((1, 2, 3)) % 3


@follows(QUARTER)
def an_event_loop():
    async def main():
        await asyncio.sleep(0.001)
        return await asyncio.to_thread(coin)

    return asyncio.run(main())


@follows(QUARTER)
def a_seed_of_torch_for_all_that_follows():
    with torch.random.fork_rng():
        torch.seed()
        return coin()


@follows(QUARTER)
def a_clock_in_a_line_of_json():
    json.dumps({"at": time.time(), "and": [time.time_ns()]})
    return coin()


@follows(QUARTER)
def a_library_that_times_the_collection_of_garbage():
    gc_cumulative_time()  # of hypothesis: from now on it asks a clock in the middle of whatever code runs
    gc.collect()
    return coin()


@follows(QUARTER)
def a_file_read_and_a_bar():
    with tempfile.TemporaryFile() as file:
        file.write(b"0.25")
        file.seek(0)
        return int(random.random() < float(file.read()))


# ---- audits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program, door", REFUSED)
def test_a_door_is_refused_by_its_name(program, door):
    with pytest.raises(NotUnderstood) as error:
        enumerate_law(lambda context, n_tokens: [program()], (), 1)
    assert door in str(error.value)


@pytest.mark.parametrize("program, law", FOLLOWED)
def test_what_can_be_followed_is(program, law):
    found = enumerate_law(lambda context, n_tokens: [program()], (), 1)
    assert found.unseen == 0
    assert {word[0]: float(p) for word, p in found.law.items()} == pytest.approx(law, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("program, door", REFUSED)
def test_fresh_seeds_change_nothing(program, door):
    for seed in range(1, SEEDS):
        with pytest.raises(NotUnderstood) as error:
            enumerate_law(lambda context, n_tokens: [program()], (), 1, seed=seed)
        assert door in str(error.value)


def test_a_door_is_open_again_after_an_audit():
    before = time.time, os.urandom, hash, np.random.PCG64, torch.Generator, datetime.datetime, secrets.randbits
    held = CLOCK[0], URANDOM.func, bytes_by_a_default_argument.__defaults__
    enumerate_law(lambda context, n_tokens: [0], (), 1)
    after = time.time, os.urandom, hash, np.random.PCG64, torch.Generator, datetime.datetime, secrets.randbits
    assert all(one is other for one, other in zip(before, after, strict=True))
    assert (CLOCK[0], URANDOM.func, bytes_by_a_default_argument.__defaults__) == held
    assert isinstance(time.time(), float) and len(os.urandom(3)) == 3 and 0 <= random.Random(5).random() < 1
    with open("/dev/urandom", "rb") as device:
        assert len(device.read(1)) == 1


def test_a_device_that_was_open_before_is_refused():
    with open("/dev/urandom", "rb"), pytest.raises(NotUnderstood, match="/dev/urandom, which was open before"):
        enumerate_law(lambda context, n_tokens: [0], (), 1)


def test_a_refusal_that_is_caught_is_one():
    def subject(context, n_tokens):
        try:
            return [os.urandom(1)[0] % 2]
        except Exception:
            return [0]

    with pytest.raises(NotUnderstood, match=r"os.urandom at test_doors.py:\d+"):
        enumerate_law(subject, (), 1)


def test_draws_on_other_devices_are_refused():
    for values in [(torch.device("cuda"),), (torch.zeros(1), torch.device("xpu", 0))]:
        with pytest.raises(NotUnderstood, match=f"torch.rand on {values[-1].type}"):
            refuse_devices("rand", values)
    refuse_devices("rand", (torch.device("cpu"), torch.zeros(1), 3, None))


def test_without_its_guard_a_door_gives_a_false_law(monkeypatch):
    """The planted fault: what these tests would miss if the words of bit generators were left alone."""
    from rheocheck.intercept.sources import numpy

    monkeypatch.setattr(numpy.SOURCE, "stand_ins", list)
    assert enumerate_law(lambda context, n_tokens: [a_raw_word(5)], (), 1).law == {(0,): 1}
