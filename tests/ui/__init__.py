"""Tests of the page in a real browser, and the executions that they look at."""
