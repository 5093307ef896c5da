"""Answers to experiments: from the pages that the service sends to one result or one file."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import re
import sys
import tempfile
import time
import urllib.parse
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Union

from .documents import Json
from .errors import LabConnectionError, LabError
from .frames import fastest_ending, table_frame
from .responses import broken, error_of, parsed, read, read_line
from .results import ROWS_LEFT_OUT, Result
from .screens import Screen

if TYPE_CHECKING:
    from pandas import DataFrame

    from .kept_answers import KeptAnswer

_EXTENSIONS = {".csv": "csv", ".arrow": "arrow", ".parquet": "parquet", ".ndjson": "ndjson", ".json": "json"}
#: Opens an answer with the members of a query.
Ask = Callable[[Mapping[str, Union[str, None]]], Any]
#: Lines of an answer, parsed, and as bytes if the service wrote them so.
Lines = Generator[tuple[Json, Union[bytes, None]], None, None]


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Where responders of the baseline decide on conditions, the totals are upper bounds until it is done.
    """

    conditions_done: int
    conditions: int
    trials_done: int
    trials: int
    elapsed_s: float

    @property
    def left_s(self) -> float | None:
        """Seconds left, if each remaining trial takes as long as those before; None before the first trial is done."""
        if self.trials_done == 0:
            return None
        return self.elapsed_s * (self.trials - self.trials_done) / self.trials_done


def print_progress(progress: Progress) -> None:
    """Shows the progress in one line of the terminal or of a notebook's output."""
    left = "" if progress.left_s is None else f", {progress.left_s:.0f} s left"
    text = (
        f"{progress.trials_done} of {progress.trials} trials, "
        f"{progress.conditions_done} of {progress.conditions} conditions{left}"
    )
    end = "\n" if progress.conditions_done == progress.conditions else ""
    print(f"\r{text:<70}", end=end, file=sys.stderr, flush=True)


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Checks before the experiment that an answer can be saved there, and not after hours. Returns the path."""
    path = Path(path)
    if path.suffix not in _EXTENSIONS:
        raise ValueError(f"path must end in {', '.join(_EXTENSIONS)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must name a file in a folder that exists, got {str(path)!r}")
    return path


def is_held_back(query: Mapping[str, str | None]) -> bool:
    """Whether the service holds back the beginning of the answer. Only lines come while it computes."""
    return query.get("format") != "ndjson"


def result_of(
    ask: Ask,
    *,
    truncate: bool,
    show: Callable[[Progress], object] | None = None,
    kept: KeptAnswer | None = None,
) -> Result:
    """All of an answer, whose warnings are shown.

    Args:
        ask: opens the answer.
        truncate: as for `Lab.run`.
        show: called with the progress.
        kept: the part of the answer that a file has, and gets.
    """
    started_s = time.monotonic()
    answer: Json = {"conditions": []}

    def lines_from(start: int) -> Lines:
        query: dict[str, str | None] = {"truncate": _flag(truncate), "from": str(start) if start > 0 else None}
        return _naming_tables(_lines_of_pages(ask, query))

    # If `show` fails, the experiment is no longer under way.
    with contextlib.closing(lines_from(0) if kept is None else kept.lines(lines_from)) as lines:
        for line, _ in lines:
            if "progress" in line:
                if show is not None:
                    show(Progress(elapsed_s=time.monotonic() - started_s, **line["progress"]))
            elif "index" in line:
                answer["conditions"].append(line)
            else:
                answer.update(line)
    for warning in answer.get("warnings", ()):
        warnings.warn(warning["message"], stacklevel=3)
    result = _in_order(answer)
    return Result(result, lambda: drawing_of(ask, result))


def drawing_of(ask: Ask, answer: Json) -> str:
    """The service's figure of an answer, as SVG."""
    with ask({"format": "svg"}) as response:
        pieces = []
        while piece := read(response, 2**20):
            pieces.append(piece)
    svg = b"".join(pieces).decode()
    if f"Experiment: {answer['id']}" not in svg:
        raise LabError("The service has changed its model or its answers since this result; run the experiment again.")
    return svg


def _naming_tables(lines: Lines) -> Lines:
    """The lines. The failure for one trial with more rows than JSON may have names the way to all of them."""
    try:
        yield from lines
    except LabError as error:
        if error.code == "TOO_EXPENSIVE" and "in JSON" in str(error):
            error.args = (f'{error} lab.table("spikes", ...) and job.table("spikes") give such a table here.',)
        raise


def _flag(value: bool) -> str | None:
    return "true" if value else None


def _lines_of_pages(ask: Ask, query: Mapping[str, str | None]) -> Lines:
    """The lines of one answer from all of its pages, parsed, and as bytes if the service wrote them so.

    A condition at the border of two pages stands in both of them, with the rows of other trials in each.
    """
    head: Json = {}
    totals: tuple[Json, bytes | None] | None = None
    held: tuple[Json, bytes | None] | None = None
    screen: Screen | None = None
    conditions = 0
    pages = 0
    page = None
    while totals is None or page is not None:
        last: Json = {}
        pages += 1
        # Progress counts from the beginning of a page.
        before = conditions
        # A page knows where it begins.
        begins = query.get("from") if page is None else None
        with ask({**query, "format": "ndjson", "from": begins, "page": page}) as response:
            while data := read_line(response):
                last = parsed(data)
                _check_failure(last)
                if "progress" in last:
                    trials = before * head["experiment"]["trials"]
                    added = {"conditions_done": before, "conditions": before, "trials_done": trials, "trials": trials}
                    yield {"progress": {name: last["progress"][name] + more for name, more in added.items()}}, None
                elif "index" in last:
                    if held is not None and held[0]["index"] == last["index"]:
                        held = _joined(held[0], last), None
                        continue
                    if held is not None:
                        yield held
                        conditions += 1
                    if screen is not None:
                        screen.add(last)
                    held = last, data
                    if not _has_tables(last):
                        # It is complete, and may be long before the next one.
                        yield held
                        conditions += 1
                        held = None
                elif "id" in last:
                    if page is None:
                        yield last, data
                        head = last
                        screen = Screen.of(head["experiment"])
                    elif last["id"] != head["id"]:
                        raise LabError("The service changed its model between two parts of the answer; ask again.")
                else:
                    page = last.pop("next_page", None)
                    totals = _summed(totals, last, data)
        _check_last(last)
    if held is not None:
        yield held
    if screen is not None and pages > 1 and query.get("from") is None and "partial" not in totals[0]:
        totals[0]["screen"] = screen.result()
    yield totals


def _has_tables(condition: Json) -> bool:
    """Whether a condition has rows, which may be divided between two pages. Groups are a list."""
    return any(isinstance(report, dict) for report in condition.get("reports", {}).values())


def _joined(condition: Json, rest: Json) -> Json:
    """A condition with the rows of two pages."""
    for name, report in condition["reports"].items():
        # Groups are a list. They are of all trials, in both pages.
        if isinstance(report, dict):
            for column, values in report.items():
                values.extend(rest["reports"][name][column])
    return condition


def _summed(totals: tuple[Json, bytes | None] | None, more: Json, data: bytes) -> tuple[Json, bytes | None]:
    """The totals of the pages so far and of one more: costs of both, and whatever either of them says."""
    if totals is None:
        return more, data
    before, _ = totals
    cost = {name: round(before["cost"][name] + value, 3) for name, value in more["cost"].items()}
    lists = {}
    for name in ("unchanged", "warnings", "cite"):
        distinct = {json.dumps(each): each for each in [*before[name], *more[name]]}
        lists[name] = list(distinct.values())
    return {**before, **more, "cost": cost, **lists}, None


def save(ask: Ask, path: Path, query: Mapping[str, str | None], *, truncate: bool) -> Path:
    """Saves all of an answer in the format of the path's ending, and warns if rows are missing."""
    if _saved(ask, path, query, truncate=truncate):
        warnings.warn(f"{path} lacks rows beyond the limit of the service, as truncate=True allowed.", stacklevel=3)
    return path


def frame_of(ask: Ask, table: str, *, truncate: bool) -> DataFrame:
    """A table as a DataFrame, by way of a file: all pages of it, without the objects of JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{fastest_ending()}"
        if _saved(ask, path, {"table": table}, truncate=truncate):
            warnings.warn(ROWS_LEFT_OUT, stacklevel=3)
        return table_frame(path)


def _saved(ask: Ask, path: Path, query: Mapping[str, str | None], *, truncate: bool) -> bool:
    """Saves all of an answer.

    Returns:
        Whether rows were left out.
    """
    query = {**query, "truncate": _flag(truncate)}
    with _replacing(path) as file:
        if path.suffix in (".json", ".ndjson"):
            with contextlib.closing(_lines_of_pages(ask, query)) as lines:
                return _save_lines(lines, file, as_one=path.suffix == ".json")
        with contextlib.closing(_pages(ask, {**query, "format": _EXTENSIONS[path.suffix]})) as pages:
            return _save_table(pages, file, path)


def _save_lines(lines: Iterator[tuple[Json, bytes | None]], file: IO[bytes], *, as_one: bool) -> bool:
    """Writes the lines, or one JSON object of the same parts. Lines of progress are no part of the answer.

    Returns:
        Whether rows were left out.
    """
    codes = []
    conditions = 0
    for line, data in lines:
        if "progress" in line:
            continue
        text = text_of(line, data)
        if not as_one:
            file.write(text + b"\n")
        elif "id" in line:
            file.write(text[:-1] + b',"conditions":[')
        elif "index" in line:
            file.write(b"," + text if conditions else text)
            conditions += 1
        else:
            file.write(b"]," + text[1:])
        codes += [warning["code"] for warning in line.get("warnings", ())]
    return "SPIKES_TRUNCATED" in codes


def text_of(line: Json, data: bytes | None) -> bytes:
    """A line as the service writes it, without its end."""
    if data is not None:
        return data.rstrip()
    return json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode()


def _pages(ask: Ask, query: Mapping[str, str | None]) -> Generator[Any, None, None]:
    following: Mapping[str, str | None] | None = query
    while following is not None:
        with ask(following) as response:
            following = _next_query(response)
            yield response


def _next_query(response: Any) -> Json | None:
    """The query that gets the next page of a table, if there is one: Link: <?page=3.1>; rel="next"."""
    for target, parameters in re.findall(r"<([^>]*)>([^,]*)", ",".join(response.headers.get_all("Link", []))):
        if re.search(r';\s*rel="?next"?\s*(;|$)', parameters):
            return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(target).query))
    return None


def _save_table(pages: Iterator[Any], file: IO[bytes], path: Path) -> bool:
    """Writes the rows of all pages as one table.

    Returns:
        Whether rows were left out.
    """
    page = next(pages)
    is_truncated = page.headers.get("Spikes-Truncated") == "true"
    if _next_query(page) is None:
        _copy(page, file)
    elif path.suffix == ".csv":
        header = read_line(page)
        file.write(header)
        _copy(page, file, begun=len(header))
        for page in pages:
            if read_line(page) != header:
                raise LabError("The service changed the columns between two pages; ask again.")
            _copy(page, file, begun=len(header))
    else:
        with _table_writer(file, path) as append:
            for each in itertools.chain([page], pages):
                with tempfile.TemporaryFile(dir=path.parent) as part:
                    _copy(each, part)
                    part.seek(0)
                    append(part)
    return is_truncated


@contextlib.contextmanager
def _table_writer(file: IO[bytes], path: Path) -> Iterator[Callable[[IO[bytes]], None]]:
    """Makes one file of several, with the metadata of the first one."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as missing:
        raise ImportError(
            f"There are more rows than the service sends at once. To make one {path.suffix} of its pages, pyarrow is "
            "needed: pip install pyarrow. A .csv needs nothing; fewer trials or reported neurons make fewer rows."
        ) from missing
    with contextlib.ExitStack() as stack:
        writer: Any = None
        first_schema: Any = None

        def append(part: IO[bytes]) -> None:
            nonlocal writer, first_schema
            if path.suffix == ".parquet":
                groups = pyarrow.parquet.ParquetFile(part)
                schema = groups.schema_arrow
                tables = (groups.read_row_group(group) for group in range(groups.num_row_groups))
            else:
                batches = pyarrow.ipc.open_stream(part)
                schema = batches.schema
                tables = batches
            if writer is None:
                create = pyarrow.parquet.ParquetWriter if path.suffix == ".parquet" else pyarrow.ipc.new_stream
                writer, first_schema = stack.enter_context(create(file, schema)), schema
            elif not schema.equals(first_schema, check_metadata=True):
                raise LabError("The service changed its model between two pages; ask again.")
            for table in tables:
                writer.write(table)

        yield append


def _copy(response: Any, file: IO[bytes], *, begun: int = 0) -> None:
    """Copies an answer of which so many bytes are read."""
    length = begun
    while piece := read(response, 2**20):
        file.write(piece)
        length += len(piece)
    # A reader of pieces is not told when the last ones are missing.
    if length < int(response.headers.get("Content-Length", 0)):
        raise broken()


def _in_order(answer: Json) -> Json:
    """The members in the order of the JSON format."""
    conditions = answer.pop("conditions")
    order = ("id", "model", "wiring", "side_convention", "experiment", "resolved")
    head = {name: answer.pop(name) for name in order if name in answer}
    return {**head, "conditions": conditions, **answer}


def _check_failure(line: Json) -> None:
    """Raises the failure of the experiment if a line of its answer has one."""
    if "error" in line:
        raise error_of(line, status=None, retry_after_s=None)


def _check_last(line: Json) -> None:
    """Raises LabError if the last line of an answer is not its end."""
    _check_failure(line)
    if "cost" not in line:
        raise LabConnectionError("The answer ended before the experiment did.")


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its place when it is complete, and leaves nothing behind when it is not."""
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
