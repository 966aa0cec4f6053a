"""The tool that turns old notes into summaries."""

from __future__ import annotations

from ..model import ConsolidateReport, Grain
from .tool import Call, Tool, whole


def _consolidate(call: Call) -> ConsolidateReport:
    given = call.arguments
    return call.memory.consolidate(
        dry_run=given.get("dryRun", True),
        older_than_days=given.get("olderThanDays"),
        grain=Grain(given["grain"]) if "grain" in given else None,
        deadline=call.until.left(0.5),  # the rest is for reading what was written into the index
        progress=call.progress,
    )


CONSOLIDATE = Tool(
    name="memory_consolidate",
    title="Summarise old notes",
    description=(
        "Write short extractive summaries of the days, weeks, months, quarters and years that are over, each sentence "
        "with the lines it comes from; no note is changed. Without dryRun: false it only tells what it would do: ask "
        "the user before you let it write."
    ),
    arguments={
        "dryRun": {"type": "boolean", "description": "Only tell what would be done; true unless told."},
        "olderThanDays": whole("Leave periods alone that ended at most this many days ago; 3 unless told.", 0),
        "grain": {"type": "string", "enum": [grain.value for grain in Grain if grain is not Grain.WORKING],
                  "description": "Only the summaries of this grain."},
    },
    result=ConsolidateReport,
    run=_consolidate,
    deadline=300.0,
    read_only=False,
    embeds=True,
    upkeep=True,
    audience="client",
)  # fmt: skip
