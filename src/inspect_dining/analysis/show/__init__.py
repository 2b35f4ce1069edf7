"""Showing results: terminal tables, figures, the HTML report, exports, replay."""
