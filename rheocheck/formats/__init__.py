"""How pairs, decoders and noise are written down: pair files, "module:attr" strings, arrays of uniforms.

files    pair files, and pairs by name     loading  what "module:attr" names     noise  uniforms, read by the core
"""

from rheocheck.formats.files import load_pair, pair_from_json, pair_to_json, parse_context, read_pair
from rheocheck.formats.loading import is_import_string, load_attribute

__all__ = [
    "is_import_string", "load_attribute", "load_pair", "pair_from_json", "pair_to_json", "parse_context", "read_pair",
]  # fmt: skip
