"""The report: one self-contained page, as HTML or PDF."""
