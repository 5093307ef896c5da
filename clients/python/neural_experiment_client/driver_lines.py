"""Driver lines of cell types, by a list that the user has."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

_MAX_LINES = 3


class DriverLines:
    """The lines that label each cell type. docs/guide/driver-lines.md specifies the list and the order of lines."""

    def __init__(self, path: str | Path) -> None:
        self._types: dict[str, set[str]] = {}
        self._texts: dict[str, str] = {}
        content = Path(path).read_bytes()
        text = (gzip.decompress(content) if str(path).endswith(".gz") else content).decode("utf-8-sig")
        with io.StringIO(text, newline="") as file:
            rows = csv.DictReader(file)
            missing = [name for name in ("line", "type") if name not in (rows.fieldnames or [])]
            if missing:
                raise ValueError(f"{path} must have the columns line and type, got {rows.fieldnames}")
            for row in rows:
                line = (row["line"] or "").strip()
                if line == "":
                    raise ValueError(f"{path}, line {rows.line_num}: line must be the name of a line, got none")
                for name in filter(None, (part.strip() for part in (row["type"] or "").split(";"))):
                    self._types.setdefault(line, set()).add(name)
        if not self._types:
            raise ValueError(f"{path} must have a row with a type, got none")

    def text_for(self, types: list[str]) -> str:
        """`SS1, SS2 (+3) and 4 more`; `none`; empty without a type."""
        for name in types:
            if name not in self._texts:
                self._texts[name] = self._text_for_one(name)
        return "; ".join(self._texts[name] for name in types)

    def _text_for_one(self, name: str) -> str:
        others = {line: len(types) - 1 for line, types in self._types.items() if name in types}
        lines = sorted(others, key=lambda line: (others[line], line.encode("utf-16-be")))
        shown = [f"{line} (+{others[line]})" if others[line] else line for line in lines[:_MAX_LINES]]
        more = len(lines) - len(shown)
        return (", ".join(shown) or "none") + (f" and {more} more" if more else "")
