"""The fast front: gRPC over ASGI, inside an Envoy that runs Python (the package pyvoy)."""
