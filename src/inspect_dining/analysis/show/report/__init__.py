"""The report: one page to hand over, as HTML or PDF."""
