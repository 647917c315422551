"""``cleanpipe plan``: the plan as a person reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from cleanpipe.plan import Plan
from cleanpipe.run import Inputs, partitions
from cleanpipe.runner import choose
from cleanpipe.spec import Step
from cleanpipe.stage import Barrier, CorpusRewriter, Filter, Rewriter


def plan_text(plan: Plan, inputs: Inputs | None) -> str:
    """Phases, stages with every default, barriers, inputs, fingerprints, scratch space."""
    return "\n".join(_lines(plan, inputs)) + "\n"


def _lines(plan: Plan, inputs: Inputs | None) -> Iterator[str]:
    described = plan.described
    yield f"plan {plan.fingerprint}"
    yield ""
    if inputs is None:
        yield "sources: none; give --input"
    else:
        yield "sources"
        for source in plan.sources:
            files = [file for file in inputs.files if file.source == source.name]
            size = sum(file.size for file in files)
            columns = _json(described["sources"][source.name])
            yield f"  {source.name}: {len(files)} files, {_size(size)}, {columns}"
        names = ", ".join(f"{field.name} {field.type}" for field in inputs.columns.schema)
        yield f"  columns beside text and id: {names or 'none'}"
    stages = {stage["name"]: stage for stage in described["stages"]}
    for number, phase in enumerate(plan.phases):
        yield ""
        origin = "shards of the sources" if number == 0 else "what the barrier left"
        yield f"phase {number}: one task a shard, over {origin}"
        for step in phase.steps:
            yield from _step(step, stages[step.name])
        if phase.barrier:
            then = "the next phase begins with edits" if phase.rewrites else "resolved together"
            yield f"barrier: all shards are sketched, then {then}"
            for step in phase.barrier:
                yield from _step(step, stages[step.name])
    yield ""
    yield f"output: {_json(described['output'])}"
    yield f"shard_bytes: {plan.shard_bytes}  guards: {plan.guards}"
    for name, digest in plan.resources.items():
        yield f"sha256 {digest}  {name}"
    if inputs is not None:
        yield (
            f"run: {len(inputs.shards)} shards, {_size(inputs.bytes)} of input, runner "
            f"{choose(plan.run, inputs.bytes, len(inputs.shards))}"
        )
        yield f"scratch: {_scratch(plan, inputs)}"
    for warning in (*plan.warnings, *(inputs.warnings if inputs is not None else ())):
        yield f"warning: {warning}"


def _step(step: Step, described: dict[str, object]) -> Iterator[str]:
    stage = step.stages[0]
    family = (
        "model"
        if stage.uses_model
        else "corpus rewriter"
        if isinstance(stage, CorpusRewriter)
        else "rewriter"
        if isinstance(stage, Rewriter)
        else "barrier"
        if isinstance(stage, Barrier)
        else "filter"
    )
    yield f"  {step.name}  [{step.kind}, {family}, version {stage.version}]"
    for key, value in described.items():
        if key not in ("name", "kind", "version"):
            yield f"    {key}: {_json(value)}"
    measures = [
        f"{step.name}.{name}"
        for variant in step.stages
        if isinstance(variant, (Filter, Rewriter))
        for name in variant.takes()
    ]
    if measures:
        yield f"    measures: {', '.join(dict.fromkeys(measures))}"


def _scratch(plan: Plan, inputs: Inputs) -> str:
    """What intermediates take, roughly."""
    barriers = len(plan.phases) - 1
    if not barriers:
        return "none"
    # lz4 halves texts. Compressed inputs were four times that. Signatures and bucket rows have
    # their size whatever the text's (docs/scale.md).
    texts = sum(file.size * (4 if file.compression else 1) for file in inputs.files) // 2
    parts = partitions(inputs.files)
    stages = [stage for step in plan.steps for stage in step.stages if isinstance(stage, Barrier)]
    compares = not all(stage.identity for stage in stages)
    documents = ", and 1 KB a document" if compares else ""
    return f"about {_size(texts * barriers)}{documents}, {parts} partitions at a barrier"


def _size(size: int) -> str:
    for unit, width in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= width:
            return f"{size / width:.1f} {unit}"
    return f"{size} bytes"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
