"""The spanwise server: takes execution events, keeps them, and serves them as trees of spans."""
