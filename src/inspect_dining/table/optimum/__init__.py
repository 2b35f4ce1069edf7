"""The most meals that any play can eat: of the whole ring, of a row of seats, beside faults."""
