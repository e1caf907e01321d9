"""Fields of messages byte by byte, for what Python's protobuf cannot build."""


def varint(value: int) -> bytes:
    """Give a number as it stands in a message."""
    encoded = bytearray()
    while value >= 1 << 7:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def field(number: int, content: bytes) -> bytes:
    """Give a length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content)) + content
