"""A sequential EAGLE-2 cycle, written for comparison: one sequence, Python bookkeeping, a host read per decision.

    build    layer by layer: log-softmax over V, top K of every frontier node, top K of their children; the best N of
             all; then mask and root-to-leaf paths in Python (EAGLE-2, arXiv 2406.16858, sections 4.1 and 4.2)
    verify   target logits gathered per path and depth; at each depth the candidates that agree with what is accepted,
             each taken with probability p(x), else struck out and p renormalised; a multinomial draw at the end

It follows the profile of the published implementation and not its text: measured there, K = 10, 8 levels, 59 nodes,
V = 32000, a cycle takes 171 build ops, 131-134 verify ops and about 90 host reads. The benchmark prints the twin's own
beside every ratio.
"""

import random
from dataclasses import dataclass

import torch

ONE_HOT = 1.0  # the claim of a token that was not drawn


@dataclass
class Paths:
    """A tree as EAGLE-2 hands it to the target: tokens, mask, positions, and a row of nodes per leaf, -1 padded."""

    tokens: torch.Tensor
    mask: torch.Tensor
    positions: torch.Tensor
    rows: torch.Tensor
    kept: torch.Tensor


@torch.no_grad()  # as EAGLE's own
def build(root, drafter, K, depth, N):
    """Grow and rerank; `drafter(layer, tokens, parents)` gives the next K rows of logits."""
    last = torch.log_softmax(root, dim=-1)
    top = torch.topk(last, K, dim=-1)
    scores = top.values[0]
    all_scores, all_tokens = [scores[None]], [top.indices]
    all_parents = [torch.zeros(1, dtype=torch.long, device=root.device)]
    chosen = torch.arange(K, device=root.device)
    tokens, eye = top.indices, torch.eye(K, device=root.device)[None, None]
    seen = eye
    for layer in range(1, depth):
        start = 1 + K * K * max(0, layer - 2) + (K if layer > 1 else 0)
        all_parents.append(chosen + start)
        logits = drafter(layer, tokens, None)
        position = torch.zeros(K, dtype=torch.long, device=root.device) + layer  # noqa: F841 (what the draft model is given)
        last = torch.log_softmax(logits, dim=-1)
        top = torch.topk(last, K, dim=-1)
        children = top.values + scores[:, None]
        best = torch.topk(children.view(-1), K, dim=-1)
        chosen, scores = best.indices, best.values
        parent = chosen // K
        tokens = top.indices.view(-1)[chosen][None]
        all_scores.append(children)
        all_tokens.append(top.indices)
        seen = torch.cat((seen[:, :, parent], eye), dim=3)
    return _rerank(torch.cat(all_scores).view(-1), torch.cat(all_tokens).view(-1), torch.cat(all_parents), K, N)


def _rerank(scores, tokens, parents, K, N):
    kept = torch.sort(torch.topk(scores, N, dim=-1).indices).values
    tokens = torch.cat((torch.zeros(1, dtype=torch.long, device=kept.device), tokens[kept]))
    above = parents[kept // K].long()
    node = torch.searchsorted(kept, above - 1, right=False)
    node[above == 0] = -1
    node = node + 1
    parent = node.tolist()
    mask = torch.eye(N + 1, device=kept.device).bool()
    mask[:, 0] = True
    for i in range(N):
        mask[i + 1].add_(mask[parent[i]])
    positions = torch.sum(mask, dim=1) - 1
    deepest = (torch.max(positions) + 1).item()
    inner = set(torch.unique(node).tolist())
    at = positions.tolist()
    rows = []
    for leaf in range(N + 1):
        if leaf not in inner:
            row, here = [-1] * deepest, leaf
            for place in reversed(range(at[leaf] + 1)):
                row[place] = here
                here = parent[here - 1]
            rows.append(row)
    rows.sort(key=lambda row: [n if n >= 0 else N + 5 for n in row])
    return Paths(tokens, mask.float()[None, None], positions, torch.tensor(rows, device=kept.device), kept)


@torch.no_grad()
def verify(paths, target, rng):
    """The accepted path and the tokens of the block, from target logits [N+1, V]."""
    logits = target[paths.rows]
    padding = torch.zeros(1, dtype=torch.long, device=target.device) - 1
    candidates = torch.cat((paths.tokens, padding))[paths.rows]
    accepted, best = candidates[0][:1], 0
    p, struck = None, False
    for place in range(1, candidates.shape[1]):
        if place != len(accepted):
            break
        struck = False
        agree = (candidates[:, :place] == accepted).all(dim=1)
        first = torch.nonzero(agree, as_tuple=True)[0][0]
        p = torch.softmax(logits[first, place - 1][None][0], dim=0)
        tried = set()
        for j in range(candidates.shape[0]):
            if not agree[j]:
                continue
            x = candidates[j, place]
            token = x.item()
            if token in tried or token == -1:
                continue
            tried.add(token)
            if rng.random() <= p[token] / ONE_HOT:
                accepted, best = torch.cat((accepted, x[None])), j
                break
            p[token] = 0
            p = p / p.sum()
            struck = True
    if not struck or len(accepted) == candidates.shape[1]:
        p = torch.softmax(logits[best, len(accepted) - 1], dim=0)
    last = torch.multinomial(p, 1)
    best_row = torch.tensor(best, device=target.device)
    kept = paths.rows[best_row, : len(accepted)]
    emitted = torch.cat((candidates[best_row, 1 : len(accepted)], last))
    return kept, emitted


def fresh(seed):
    """The generator of the accept tests."""
    return random.Random(seed)
