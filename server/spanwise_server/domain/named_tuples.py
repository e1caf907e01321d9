"""A quicker way to make named tuples, where hundreds of thousands are made for one tree."""

new_tuple = tuple.__new__
"""Makes a named tuple of a sequence whose length is known to be right. Its own constructor, which
binds names, takes three times as long (measured)."""
