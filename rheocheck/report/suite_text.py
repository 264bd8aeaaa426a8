"""An assertion's record as the lines of the terminal summary."""

from typing import Any

WORDS = {"lossless": "PASS", "no_bias_found": "PASS", "biased": "FAIL", "inconclusive": "INCONCLUSIVE"}


def assertion_text(record: dict[str, Any], reproduce: str) -> str:
    """One line for a pass, more for anything else: what was found, how sure it is, and how to repeat it."""
    head = f"{WORDS[record['verdict']]:<5} {record['nodeid']}"
    if record["method"] != "sampled":
        return f"{head}   {_exact(record)}"
    bound = f"TV <= {record['total_variation_upper']:.4f} ({record['confidence']:.1%}, {record['object']})"
    if record["total_variation_lower"]:
        bound = f"TV >= {record['total_variation_lower']:.4f}   {bound}"
    evidence, p_value = _evidence(record)
    if record["verdict"] == "no_bias_found":
        found = record["smallest_detectable_tv"]
        return f"{head}   {bound}   {evidence}   n = {record['samples']}; would have seen TV {found:.4f} with 99.9 %"
    threshold = f"(threshold 10^{record['log10_threshold']:.0f})"
    lines = [f"{head}   {evidence} {threshold}   {p_value}   n = {record['samples']}", f"      {bound}"]
    lines += [
        f"      {record[key]}" for key in ("witness_text", "best", "diagnosis", "confirmation") if record.get(key)
    ]
    lines.append(f"      reproduce: {reproduce}")
    return "\n".join(lines)


def _evidence(record: dict[str, Any]) -> tuple[str, str]:
    """E and the p-value for reading: infinite after an impossible token, a power of ten beyond a float."""
    log10_e, p_value = record["log10_e"], record["p_value"]
    if not record["samples"]:
        return "no draws", "p <= 1"
    if log10_e is None:
        return "E infinite: an impossible token was drawn", "p = 0"
    return f"E = 10^{log10_e:.1f}", f"p <= {p_value:.1g}" if p_value else f"p <= 10^-{log10_e:.0f}"


def _exact(record: dict[str, Any]) -> str:
    text = f"total variation {record['total_variation']} ({record['method']})"
    return f"{text}   {record['witness_text']}" if record.get("witness_text") else text
