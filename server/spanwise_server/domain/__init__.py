"""The rules of spanwise, pure: no gRPC, no SQL, no clock, no I/O."""
