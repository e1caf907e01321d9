"""Fronts: each binds the method tables to one transport."""
