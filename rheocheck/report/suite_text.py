"""An assertion's record as the lines of the terminal summary."""

from typing import Any

WORDS = {"lossless": "PASS", "no_bias_found": "PASS", "biased": "FAIL", "inconclusive": "INCONCLUSIVE"}


def assertion_text(record: dict[str, Any], reproduce: str) -> str:
    """One line for a pass, more for anything else: what was found, how sure it is, and how to repeat it."""
    head = f"{WORDS[record['verdict']]:<5} {record['nodeid']}"
    if record["method"] != "sampled":
        return f"{head}   {_exact(record)}"
    bound = f"TV <= {record['total_variation_upper']:.4f} ({record['confidence']:.1%}, {record['object']})"
    evidence = f"E = 10^{record['log10_e']:.1f}"
    if record["verdict"] == "no_bias_found":
        return (
            f"{head}   {bound}   {evidence}   n = {record['samples']}; "
            f"would have seen TV {record['smallest_detectable_tv']:.4f} with 99.9 %"
        )
    lines = [
        f"{head}   {evidence} (threshold 10^{record['log10_threshold']:.0f})   p <= {record['p_value']:.1g}   "
        f"n = {record['samples']}",
        f"      {bound}",
    ]
    lines += [f"      {record[key]}" for key in ("witness_text", "diagnosis", "confirmation") if record.get(key)]
    lines.append(f"      reproduce: {reproduce}")
    return "\n".join(lines)


def _exact(record: dict[str, Any]) -> str:
    text = f"total variation {record['total_variation']} ({record['method']})"
    return f"{text}   {record['witness_text']}" if record.get("witness_text") else text
