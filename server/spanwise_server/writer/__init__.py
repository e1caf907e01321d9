"""The writer: a process of its own that decodes, decides and commits.

It shares no interpreter with the process that serves calls. As a thread it would: measured on two
cores, taking calls and writing events in turns on one interpreter lock halved the throughput.
See docs/adr/007-the-writer-is-a-process.md.
"""
