"""The RPC surface: services as method tables that know no transport, codecs, status table."""
