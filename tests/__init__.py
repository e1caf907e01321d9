"""Tests of spanwise."""
