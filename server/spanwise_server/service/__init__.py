"""The use cases: take events in, give spans and the log out, rebuild the projections."""
