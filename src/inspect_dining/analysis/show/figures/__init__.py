"""The figures of a comparison, as SVG."""
