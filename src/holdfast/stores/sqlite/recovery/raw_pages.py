"""Raw pages: the records in a database file, read page by page without asking SQLite.

SQLite reaches a row by the pages above it; if one of these is damaged, all rows below are out of reach,
though their own pages are whole. Here every page is looked at by itself, in the file and in the log beside
it, so what any query could still read is read here too. Nothing is written, and no bytes raise: what is no
record is passed over. The format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from holdfast.lazy_dataclass import dataclass

Value: TypeAlias = int | float | str | bytes | None

TABLE_LEAF, INDEX_INTERIOR, INDEX_LEAF = 0x0D, 0x02, 0x0A
USUAL_PAGE: Final = 4096
_WAL_HEADER, _FRAME_HEADER = 32, 24
_FIRST_HEADER: Final = 100
"""The first page begins with the header of the file."""
_LARGEST: Final = 1 << 30
"""No value is larger: what a damaged length says may be anything."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """One record: the row's number, or None in an index and in a table without row numbers; its values."""

    rowid: int | None
    values: tuple[Value, ...]


class PageFile:
    """The pages of a database file, each as the last transaction in the log left it."""

    def __init__(self, path: Path) -> None:
        log = _Log(Path(f"{path}-wal"))
        self._file = path.open("rb")
        self._size = path.stat().st_size
        header = self._file.read(_FIRST_HEADER)
        self.page_size = _page_size(header) or log.page_size or USUAL_PAGE
        self._logged = log.pages if log.page_size == self.page_size else {}
        self._beyond = log.beyond if log.page_size == self.page_size else []
        first = self.page(1)
        reserved = first[20] if _page_size(first) else 0
        self.usable = self.page_size - reserved
        self.schema = int.from_bytes(first[60:64], "big") if _is_sound_header(first) else 0
        """The schema that the file says it has; 0 if it does not say, or its header is damaged."""
        self.unreadable = 0
        """How many records could not be read on pages that hold others that could."""

    def close(self) -> None:
        self._file.close()

    @property
    def count(self) -> int:
        """How many pages there are."""
        return max([-(-self._size // self.page_size), *self._logged])

    def page(self, number: int) -> bytes:
        """One page, counted from 1; with zeros where the file was cut off, empty if it is not there."""
        if number in self._logged:
            return self._logged[number]
        if number < 1 or (number - 1) * self.page_size >= self._size:
            return b""
        self._file.seek((number - 1) * self.page_size)
        return self._file.read(self.page_size).ljust(self.page_size, b"\0")

    def records(self, number: int) -> Iterator[PageRecord]:
        """The records on one page; none if it holds none."""
        yield from self._records(self.page(number), _FIRST_HEADER if number == 1 else 0)

    def records_beyond(self) -> Iterator[PageRecord]:
        """The records in the log after its damaged part: perhaps never committed, or old."""
        for page in self._beyond:
            yield from self._records(page, 0)

    def _records(self, page: bytes, start: int) -> Iterator[PageRecord]:
        if len(page) <= start or page[start] not in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR):
            return
        kind = page[start]
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        first = start + (12 if kind == INDEX_INTERIOR else 8)
        # The smallest cell has four bytes and a pointer of two.
        pointers = struct.unpack_from(f">{min(cells, (len(page) - first) // 6)}H", page, first)
        every = [self._record(page, kind, pointer) for pointer in pointers]
        records = [record for record in every if record is not None]
        # A page of random bytes may begin like one of ours.
        self.unreadable += len(every) - len(records) if records else 0
        yield from records

    def _record(self, page: bytes, kind: int, at: int) -> PageRecord | None:
        try:
            if kind == INDEX_INTERIOR:
                at += 4
            size, at = _varint(page, at)
            rowid = None
            if kind == TABLE_LEAF:
                rowid, at = _varint(page, at)
                rowid -= (rowid >> 63) << 64
            payload = self._payload(page, at, size, is_table=kind == TABLE_LEAF)
            return PageRecord(rowid, _values(payload))
        except (IndexError, ValueError, struct.error):  # UnicodeDecodeError is a ValueError
            return None

    def _payload(self, page: bytes, at: int, size: int, *, is_table: bool) -> bytes:
        """The bytes of a record, with what stands on overflow pages; ValueError if some of them are gone."""
        if size > min(_LARGEST, self.count * self.page_size):
            raise ValueError("longer than the file")
        local = self._local(size, is_table=is_table)
        if at + local > len(page):
            raise ValueError("runs out of its page")
        parts, missing = [page[at : at + local]], size - local
        following = int.from_bytes(page[at + local : at + local + 4], "big") if missing else 0
        while missing:
            overflow = self.page(following)
            if not overflow:
                raise ValueError("an overflow page is gone")
            part = overflow[4 : min(self.usable, 4 + missing)]
            parts.append(part)
            missing -= len(part)
            following = int.from_bytes(overflow[:4], "big")
        return b"".join(parts)

    def _local(self, size: int, *, is_table: bool) -> int:
        """How many bytes of a record of that size stand on its own page."""
        usable = self.usable
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (usable - 12) * 32 // 255 - 23
        fitting = least + (size - least) % (usable - 4)
        return fitting if fitting <= most else least


class _Log:
    """The pages in the log beside a database: those committed, and those after its damaged part."""

    def __init__(self, path: Path) -> None:
        self.page_size = 0
        self.pages = dict[int, bytes]()
        self.beyond = list[bytes]()
        try:
            content = path.read_bytes()
        except OSError:
            return
        if len(content) >= _WAL_HEADER and content[:4] in (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"):
            self.page_size = int.from_bytes(content[8:12], "big")
            if _is_page_size(self.page_size):
                self._read(content)

    def _read(self, content: bytes) -> None:
        order, salt = (">" if content[3] & 1 else "<"), content[16:24]
        sums, open_pages = _checksum(content[:24], (0, 0), order), dict[int, bytes]()
        is_whole = sums == struct.unpack(">2I", content[24:32])
        step = _FRAME_HEADER + self.page_size
        for at in range(_WAL_HEADER, len(content) - step + 1, step):
            head, page = content[at : at + _FRAME_HEADER], content[at + _FRAME_HEADER : at + step]
            number, committed = struct.unpack(">2I", head[:8])
            if head[8:16] != salt:
                # Frames of an earlier round: the database has all of them.
                if is_whole:
                    break
                continue
            if is_whole:
                sums = _checksum(page, _checksum(head[:8], sums, order), order)
                is_whole = sums == struct.unpack(">2I", head[16:24])
            if not is_whole:
                self.beyond.append(page)
                continue
            open_pages[number] = page
            if committed:
                self.pages.update(open_pages)
                open_pages.clear()


def _checksum(content: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for place in range(0, len(words), 2):
        first = (first + words[place] + second) & 0xFFFFFFFF
        second = (second + words[place + 1] + first) & 0xFFFFFFFF
    return first, second


def _is_sound_header(page: bytes) -> bool:
    """Whether the fields around the schema's version hold what SQLite writes, so that it can be believed."""
    schema_format, encoding = page[44:48], page[56:60]
    fractions_hold = page[21:24] == bytes((64, 32, 32))
    return (
        bool(_page_size(page))
        and fractions_hold
        and int.from_bytes(schema_format, "big") in range(1, 5)
        and int.from_bytes(encoding, "big") in (1, 2, 3)
        and not any(page[72:92])
    )


def _page_size(header: bytes) -> int:
    """The size of a page as the header of a database says it; 0 if this is no such header."""
    if not header.startswith(b"SQLite format 3\0"):
        return 0
    size = int.from_bytes(header[16:18], "big")
    size = 65536 if size == 1 else size
    return size if _is_page_size(size) else 0


def _is_page_size(size: int) -> bool:
    return 512 <= size <= 65536 and size & (size - 1) == 0


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A number of up to nine bytes, and where it ends; IndexError if the page ends before."""
    value = 0
    for place in range(8):
        byte = content[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | content[at + 8], at + 9


def _values(payload: bytes) -> tuple[Value, ...]:
    """The values of a record; ValueError if it is none."""
    end, at = _varint(payload, 0)
    if not at <= end <= len(payload):
        raise ValueError("a header that is longer than its record")
    values, place = list[Value](), end
    while at < end:
        kind, at = _varint(payload, at)
        size = _size(kind)
        if place + size > len(payload):
            raise ValueError("a value that is longer than its record")
        values.append(_value(kind, payload[place : place + size]))
        place += size
    return tuple(values)


def _size(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    if kind in (10, 11):
        raise ValueError("a kind of value that there is not")
    return _SIZES[kind]


def _value(kind: int, content: bytes) -> Value:
    match kind:
        case 0:
            return None
        case 7:
            return float(struct.unpack(">d", content)[0])
        case 8 | 9:
            return kind - 8
        case _ if kind < 7:
            return int.from_bytes(content, "big", signed=True)
        case _:
            return content.decode("utf-8") if kind % 2 else content


_SIZES: Final = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
