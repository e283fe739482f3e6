"""What sessions noted on a host about the files they changed."""

from specttui.host.leftovers import JournalRecord, find_traces
from specttui.host.runner import Runner


async def find_journals(remote: Runner) -> list[JournalRecord]:
    """A record for every file that a session has changed and not restored, newest first."""
    records = (record for around in (await find_traces(remote)).files for record in around.journals)
    return sorted(records, key=lambda record: -record.time_s)
