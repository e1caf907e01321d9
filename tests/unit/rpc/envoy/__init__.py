"""Tests of the Envoy front, without Envoy."""
