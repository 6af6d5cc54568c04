from typing import Any

def run(
    primitive: str,
    operation: str | None,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    scalars: dict[str, Any],
    rung: str | None,
    stream: int,
) -> None: ...
def primitives() -> list[str]: ...
