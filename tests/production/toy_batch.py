"""Random logits for whole cycles: drafters that look at their tokens, or not."""

import torch

from rheocheck.production import Frontier, build, draw_noise, verify


def rows(B, R, V, seed, scale=3.0, dtype=torch.float32):
    """Random logits [B, R, V]."""
    return (scale * torch.randn(B, R, V, generator=torch.Generator().manual_seed(seed))).to(dtype)


def blind_drafter(shape, B, V, seed=1, scale=3.0, dtype=torch.float32):
    """(root logits, drafter): what it answers depends on layer and rank alone, never on a token."""
    table = rows(B, 1 + shape.depth * shape.width, V, seed, scale, dtype)

    def drafter(frontier: Frontier):
        start = 1 + (frontier.layer - 1) * shape.width
        return table[:, start : start + shape.width]

    return table[:, 0], drafter


def seeing_drafter(shape, B, V, seed=1, scale=3.0, dtype=torch.float32):
    """(root logits, drafter): a Markov drafter, one row of logits per last token."""
    table = rows(1, V + 1, V, seed, scale, dtype)[0]
    return table[0].expand(B, V), lambda frontier: table[frontier.token]


def target_table(V, seed=1, scale=3.0, dtype=torch.float32):
    """Target logits [V, V] by last token: the drafter's and as much noise again."""
    noise = rows(1, V, V, seed + 1, scale / 3)[0]
    return (rows(1, V + 1, V, seed, scale)[0][:V] + noise).to(dtype)


def markov_target(tree, V, dtype=torch.float32):
    """Target logits of the nodes, by their last token; the root's is token 0."""
    return target_table(V, dtype=dtype)[tree.token]


def cycle(shape, B, V, *, noise_seed=0, dtype=torch.float32, **how):
    """A tree and what is emitted, for a Markov drafter and target."""
    options = {name: how.pop(name) for name in ("builder", "top", "d2t") if name in how}
    root, drafter = seeing_drafter(shape, B, V, dtype=dtype)
    noise = draw_noise(shape, B, V, generator=torch.Generator().manual_seed(noise_seed))
    tree = build(root, drafter, shape, noise.probe, temperature=how.get("temperature"), **options)
    return tree, verify(tree, markov_target(tree, V, dtype=dtype), noise.coin, **how)
