"""Codecs between the messages of the wire and the domain: decode_* inward, encode_* outward."""
