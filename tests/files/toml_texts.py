"""TOML settings as people have them: any order, comments, layouts and spellings; and our table for them."""

from pathlib import Path

from hypothesis import strategies as st

from holdfast.core.events.install_request import WantedMember, ownership_mark

FILE = Path("/home/you/.some/config.toml")
RELAY = "/home/you/.holdfast/bin/relay.py"
OURS = WantedMember(
    FILE,
    ("servers", "ours"),
    {"command": "/usr/bin/python3.12", "args": ["-I", RELAY, "some-harness"], "required": False},
    RELAY,
)
MARK = ownership_mark([RELAY], Path("/home/you/.holdfast/bin/hook.py"))

_blanks = st.sampled_from(("", " ", "\t", "  "))
_comments = st.sampled_from(("", "", " # a note", "\t# [servers.ours]", ' # "quoted'))
_strings = st.sampled_from(
    (
        '"plain"',
        "'literal # [x]'",
        '"esc \\" ] # \\\\"',
        '"""\nmany\n[servers.ours]\ncommand = "x"\n"""',
        "'''\n# no comment\n[a]\n'''",
        '"""two quotes"""""',
        '"\\u00e9 ü"',
    )
)
_plain = _strings | st.sampled_from(("1", "-0.5e3", "true", "2026-11-15T10:00:00Z", "07:32:00", "inf"))
_arrays = st.tuples(st.lists(_plain, max_size=3), st.sampled_from((", ", ",\n  ", ", # why\n\t"))).map(
    lambda made: f"[{made[1].join(made[0])}]"
)
_inline = _plain.map(lambda value: f"{{ a = {value.replace(chr(10), ' ')}, b.c = 1 }}").filter(
    lambda text: '"""' not in text and "'''" not in text
)
_values = _plain | _arrays | _inline
_spelled = st.sampled_from(("{}", '"{}"', "'{}'", '"{} x"', "{}.deep", "{} . deep"))


@st.composite
def _pairs(draw: st.DrawFn, number: int) -> str:
    key = draw(_spelled).format(f"key{number}")
    around = f"{draw(_blanks)}={draw(_blanks)}"
    return f"{draw(_blanks)}{key}{around}{draw(_values)}{draw(_comments)}"


@st.composite
def _tables(draw: st.DrawFn, number: int) -> list[str]:
    name = draw(st.sampled_from((f"table{number}", f"servers.other{number}", f'servers."my. {number}"')))
    opening, closing = draw(st.sampled_from((("[", "]"), ("[[", "]]"), ("[ ", " ]"))))
    header = f"{draw(_blanks)}{opening}{name}{closing}{draw(_comments)}"
    idle = draw(st.lists(st.sampled_from(("", "  ", "# note", "\t# [x")), max_size=2))
    return [header, *(draw(_pairs(n)) for n in range(draw(st.integers(0, 3)))), *idle]


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """The text of any settings file without anything of ours."""
    lines = [draw(_pairs(number)) for number in range(draw(st.integers(0, 3)))]
    for number in range(draw(st.integers(0, 3))):
        lines += draw(_tables(number))
    text = "\n".join(lines) + draw(st.sampled_from(("", "\n", "\n\n", "\n# the end", "\n \n")))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from(("", "", "", "\ufeff", "\n"))) + text
