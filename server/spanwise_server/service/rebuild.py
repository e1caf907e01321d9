"""Rebuilding of the projections from the event log, which is the truth."""

from collections.abc import Iterator

from spanwise_server.service.arrivals import PayloadDecoder
from spanwise_server.service.projections import Received, project_batch
from spanwise_server.storage.api import Storage, WriteTransaction

BATCH_EVENTS = 1000
"""Bounds the memory of a rebuild; larger batches are no faster."""


def rebuild_projections(storage: Storage, decode: PayloadDecoder) -> int:
    """Make every projection anew from the log and give the number of events read.

    All or nothing, in one transaction: readers see the old projections until it commits, and
    writers wait. The new rows equal those that the events made when they arrived.

    Raises:
        CorruptRecord: A payload of the log cannot be decoded. Nothing was changed.
        StoreUnavailable: The database cannot be written. Nothing was changed.
    """
    return storage.write(lambda transaction: _rebuild(transaction, decode))


def _rebuild(transaction: WriteTransaction, decode: PayloadDecoder) -> int:
    transaction.clear_projections()
    count = 0
    for batch in _batches(transaction, decode):
        project_batch(transaction, batch)
        count += len(batch)
    return count


def _batches(transaction: WriteTransaction, decode: PayloadDecoder) -> Iterator[list[Received]]:
    batch: list[Received] = []
    for record in transaction.iterate_log():
        batch.append(Received(decode(record.payload_type, record.payload), record.recorded_at_ns))
        if len(batch) >= BATCH_EVENTS:
            yield batch
            batch = []
    if batch:
        yield batch
