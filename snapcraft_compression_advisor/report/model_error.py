"""How far off estimates of launches are, as docs/accuracy.md has it."""

from __future__ import annotations

MODEL_ERROR = (
    "error of the time added, xz: median 6.5%, worst 20.5% (18 figures)",
    "error of the time added, other codecs: median 17.7%, worst 67.2% (51 figures)",
    "order of two codecs that differ by more than noise: right in 149 of 149",
    "same recommendation as from the measurement: 18 of 18",
    "measured time inside the predicted interval: 90 of 90 (100%)",
)
"""Measured on Debian applications, each predicted from the others and its recorded
launch; ``study/accuracy.py`` prints these lines, and a test compares them."""
