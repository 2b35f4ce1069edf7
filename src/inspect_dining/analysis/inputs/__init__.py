"""Finding and reading logs: files, samples, episodes, data-frame columns."""
