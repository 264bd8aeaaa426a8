"""A replayed path as a few lines for a terminal."""

from rheocheck.audit.replay import Replayed
from rheocheck.report.exact_text import after, path_lines


def replay_text(found: Replayed) -> str:
    """Every choice on a line, then every token with the target's probability; no trailing newline."""
    lines = path_lines(found.path)
    for i, token in enumerate(found.path.word):
        context = (*found.context, *found.path.word[:i])
        text = f"{after(context)}, token {token}"
        lines.append(text if found.target is None else f"{text}: target {found.target[i]:.6g}")
    return "\n".join(lines)
