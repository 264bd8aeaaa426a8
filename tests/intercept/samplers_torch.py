"""What torch draws, and how its stand-ins are tried. Outcomes are indices, coins, or the cell that a number lies in."""

from typing import Any

import numpy as np
import torch

from tests.intercept.standins import COINS, EDGES, FLOATS, HALVES, WEIGHTS, Law, Samplers

ALL = (*FLOATS, *HALVES)
INTEGERS = ("int64", "int32", "uint8")
FINE = 2**-12  # halves of [0, 1) are not so fine everywhere


def seeded(seed: int) -> torch.Generator:
    torch.manual_seed(seed)  # torch.distributions takes no generator
    return torch.Generator().manual_seed(seed)


SAMPLERS = Samplers(seeded)


def type_of(dtype: str) -> Any:
    return getattr(torch, dtype)


def weights(dtype: str) -> torch.Tensor:
    return torch.tensor(WEIGHTS, dtype=torch.float64).to(type_of(dtype))


def three_rows(dtype: str) -> torch.Tensor:
    w = weights(dtype)
    return torch.stack([w, w.flip(0), w.roll(4)])[:, :6]


def coins(dtype: str) -> torch.Tensor:
    return torch.tensor(COINS, dtype=torch.float64).to(type_of(dtype))


def cells(u: torch.Tensor) -> torch.Tensor:
    """Which edges a number lies above, whatever its scale: (u < edge) edge by edge."""
    return sum((u >= edge).long() for edge in EDGES)


# ---- indices by weights ---------------------------------------------------------------------------------------------


@SAMPLERS.followed("torch.multinomial", *ALL)
def one_a_row(n, g, dtype):
    """one of each row"""
    return torch.multinomial(weights(dtype).expand(n, -1), 1, generator=g)


@SAMPLERS.followed("torch.multinomial", *ALL)
def many_with_replacement(n, g, dtype):
    """many of one row, with replacement"""
    return torch.multinomial(weights(dtype), n, replacement=True, generator=g)


@SAMPLERS.followed("torch.multinomial", *ALL, tokens=2)
def two_with_replacement(n, g, dtype):
    """two of each row, with replacement"""
    return torch.multinomial(weights(dtype).expand(n, -1), 2, replacement=True, generator=g)


@SAMPLERS.followed("torch.multinomial", *ALL, tokens=2)
def two_without_replacement(n, g, dtype):
    """two of each row, without replacement"""
    return torch.multinomial(weights(dtype).expand(n, -1), 2, generator=g)


@SAMPLERS.followed("Tensor.multinomial", *ALL, tokens=3)
def three_different_rows(n, g, dtype):
    """one of each of three different rows"""
    return three_rows(dtype).repeat(n, 1).multinomial(1, generator=g).reshape(n, 3)


@SAMPLERS.followed("torch.distributions.Categorical", *ALL)
def categorical_by_logits(n, g, dtype):
    """by the logarithms of the weights"""
    return torch.distributions.Categorical(logits=weights(dtype).log()).sample((n,))


@SAMPLERS.followed("torch.distributions.Categorical", *ALL)
def categorical_by_probabilities(n, g, dtype):
    """by the weights"""
    return torch.distributions.Categorical(weights(dtype)).sample((n,))


# ---- coins ----------------------------------------------------------------------------------------------------------


@SAMPLERS.followed("torch.bernoulli", *ALL, tokens=len(COINS))
def coins_by_tensor(n, g, dtype):
    """four coins by a tensor of probabilities"""
    return torch.bernoulli(coins(dtype).repeat(n, 1), generator=g).long()


@SAMPLERS.followed("torch.bernoulli", *ALL, tokens=2)
def coins_by_number(n, g, dtype):
    """two coins of one probability"""
    return torch.bernoulli(torch.empty(n, 2, dtype=type_of(dtype)), 0.3001, generator=g).long()


@SAMPLERS.followed("Tensor.bernoulli_", *ALL, tokens=len(COINS))
def coins_filled_by_tensor(n, g, dtype):
    """four coins by a tensor of probabilities"""
    return torch.empty(n, 4, dtype=type_of(dtype)).bernoulli_(coins(dtype), generator=g).long()


@SAMPLERS.followed("Tensor.bernoulli_", *ALL, "int64", "bool", tokens=2)
def coins_filled_by_number(n, g, dtype):
    """two coins of one probability"""
    return torch.empty(n, 2, dtype=type_of(dtype)).bernoulli_(0.0107, generator=g).long()


@SAMPLERS.followed("torch.distributions.Bernoulli", *ALL, tokens=len(COINS))
def coins_by_distribution(n, g, dtype):
    """four coins"""
    return torch.distributions.Bernoulli(coins(dtype)).sample((n,)).long()


# ---- uniforms, clocks and their races -------------------------------------------------------------------------------


@SAMPLERS.followed("torch.rand", *FLOATS, tokens=2)
def uniform_cells(n, g, dtype):
    """the cells of two uniforms"""
    return cells(torch.rand(n, 2, dtype=type_of(dtype), generator=g))


@SAMPLERS.followed("torch.rand_like", *FLOATS)
def uniform_like(n, g, dtype):
    """the integer part of seven uniforms' worth"""
    return (torch.rand_like(torch.empty(n, dtype=type_of(dtype))) * 7).long()


@SAMPLERS.followed("Tensor.uniform_", *FLOATS)
def uniform_filled(n, g, dtype):
    """the cell of a uniform between -1 and 2"""
    return cells(torch.empty(n, dtype=type_of(dtype)).uniform_(-1, 2, generator=g))


@SAMPLERS.followed("Tensor.exponential_", *FLOATS)
def exponential_cells(n, g, dtype):
    """the cell of a clock of rate 2"""
    return cells(torch.empty(n, dtype=type_of(dtype)).exponential_(2, generator=g))


@SAMPLERS.followed("Tensor.exponential_", *FLOATS)
def exponential_race(n, g, dtype):
    """a race of clocks"""
    w = weights(dtype)
    return (w / torch.empty(n, len(w), dtype=w.dtype).exponential_(generator=g)).argmax(-1)


@SAMPLERS.followed("Tensor.exponential_", *FLOATS, tokens=2)
def exponential_places(n, g, dtype):
    """the first two of a race of clocks"""
    w = weights(dtype)
    return (w / torch.empty(n, len(w), dtype=w.dtype).exponential_(generator=g)).topk(2)[1]


@SAMPLERS.followed("torch.rand", *FLOATS)
def gumbel_race(n, g, dtype):
    """a race of Gumbel noise made of uniforms"""
    w = weights(dtype)
    return (w.log() - torch.log(-torch.log(torch.rand(n, len(w), dtype=w.dtype, generator=g)))).argmax(-1)


@SAMPLERS.followed("torch.distributions.Exponential", *FLOATS)
def exponential_by_distribution(n, g, dtype):
    """the cell of a clock of rate 2"""
    return cells(torch.distributions.Exponential(torch.tensor(2, dtype=type_of(dtype))).sample((n,)))


@SAMPLERS.followed("torch.distributions.Uniform", *FLOATS)
def uniform_by_distribution(n, g, dtype):
    """the cell of a uniform between -1 and 2"""
    low, high = torch.tensor([-1, 2], dtype=type_of(dtype))
    return cells(torch.distributions.Uniform(low, high).sample((n,)))


def _even(dtype: str) -> Law:
    """Whether the integer part of a uniform or clock, in steps of FINE, is odd; to 1e-4."""
    return {(0,): 0.5, (1,): 0.5}


@SAMPLERS.refused("torch.rand", *HALVES, claimed=_even)
def odd_step_of_a_uniform(n, g, dtype):
    """whether a uniform lies in an odd step of 2^-12"""
    return (torch.rand(n, dtype=type_of(dtype), generator=g).double() / FINE).long() % 2


@SAMPLERS.refused("torch.rand_like", *HALVES, claimed=_even)
def odd_step_of_a_uniform_like(n, g, dtype):
    """whether a uniform lies in an odd step of 2^-12"""
    return (torch.rand_like(torch.empty(n, dtype=type_of(dtype))).double() / FINE).long() % 2


@SAMPLERS.refused("Tensor.uniform_", *HALVES, claimed=_even)
def odd_step_of_a_uniform_filled(n, g, dtype):
    """whether a uniform lies in an odd step of 2^-12"""
    return (torch.empty(n, dtype=type_of(dtype)).uniform_(generator=g).double() / FINE).long() % 2


@SAMPLERS.refused("Tensor.exponential_", *HALVES, claimed=_even)
def odd_step_of_a_clock(n, g, dtype):
    """whether a clock lies in an odd step of 2^-12"""
    return (torch.empty(n, dtype=type_of(dtype)).exponential_(generator=g).double() / FINE).long() % 2


# ---- integers and orders --------------------------------------------------------------------------------------------


@SAMPLERS.followed("torch.randint", *INTEGERS, *ALL, tokens=2)
def integers(n, g, dtype):
    """two of 0..12"""
    return torch.randint(13, (n, 2), dtype=type_of(dtype), generator=g).long()


@SAMPLERS.followed("torch.randint", "int64", "int32", *ALL)
def integers_from_below_zero(n, g, dtype):
    """one of -5..4, plus 5"""
    return torch.randint(-5, 5, (n,), dtype=type_of(dtype), generator=g).long() + 5


@SAMPLERS.followed("torch.randint_like", *INTEGERS, *ALL)
def integers_like(n, g, dtype):
    """one of 3..12"""
    return torch.randint_like(torch.zeros(n, dtype=type_of(dtype)), 3, 13).long()


@SAMPLERS.followed("torch.randperm", "int64", "int32", *ALL, tokens=4)
def orders(n, g, dtype):
    """an order of four"""
    return np.stack([torch.randperm(4, dtype=type_of(dtype), generator=g).long().numpy() for _ in range(n)])
