"""The most meals that any play can eat: on the whole ring, in a row of seats, and with faulty seats."""
