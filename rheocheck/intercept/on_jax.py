from contextlib import contextmanager
@contextmanager
def jax_randomness(streams):
    yield
