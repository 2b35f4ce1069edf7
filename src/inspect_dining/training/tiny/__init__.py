"""The tiny stand-in model: building it and schooling it."""
