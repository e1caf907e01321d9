"""The reader: a process of its own that builds and encodes trees, metrics and diagnoses.

It shares no interpreter with the process that serves calls, and yields to it and to the writer when
all want the processor: the tree of a large execution takes seconds to build, and senders of events
must not feel that. See docs/adr/018-reads-have-a-process.md.
"""
