"""Generated stubs of the protos in protos/spanwise/v1: messages, and stubs for gRPC."""
