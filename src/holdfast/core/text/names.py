"""Names: finds the identifiers, references, file paths and program names in a text.

Plain words are no names, and names that are in nearly every program are left out. Which names matter to a
session is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from holdfast.core.text.lazy_patterns import compiled

COMMON: Final = frozenset(
    """
    __init__ __main__ __name__ __file__ __all__ __dict__ __class__ __str__ __repr__ __future__ __pycache__
    __dirname __filename isinstance issubclass hasattr getattr setattr print len str int list dict set range
    open super main map filter type repr sorted format get append join split strip items keys values add pop
    push then catch log error warn info length includes slice find some every reduce concat trim replace test
    forEach toString valueOf indexOf hasOwnProperty setTimeout clearTimeout setInterval addEventListener
    querySelector querySelectorAll getElementById classList innerHTML className onClick onChange
    process.env process.argv module.exports Array.isArray Object.entries Object.assign JSON.stringify
    JSON.parse Math.max Math.min Math.round Math.floor Promise.all Promise.resolve Promise.reject
    useState useEffect useRef useMemo useCallback
    os.path os.environ sys.path sys.argv sys.exit os.path.join sys.stdout sys.stderr typing.Any
    fmt.Println fmt.Printf fmt.Sprintf fmt.Errorf std::string std::vector std::cout String::from Vec::new
    node_modules site_packages utf_8 snake_case camelCase PascalCase CONSTANT_CASE in_progress
    GitHub GitLab JavaScript TypeScript CoffeeScript PostgreSQL MySQL SQLite MongoDB GraphQL WebSocket
    OpenAI YouTube LinkedIn StackOverflow DevOps FastAPI NumPy PyPI DevTools VSCode macOS iOS iPhone iPad
    JetBrains IntelliJ DynamoDB RabbitMQ CloudFlare CloudFront WordPress OAuth WebAssembly TailwindCSS
    APIs URLs URIs IDs UUIDs CLIs LLMs PRs TODOs PDFs CSVs
    """.split()
)
"""Names that are in nearly every program or text; also at the end of a qualified name."""


def names(text: str) -> tuple[str, ...]:
    """The identifiers in a text, in order, each once: `parse_hook`, `SessionStore`, `MAX_TRIES`, `run()`."""
    candidates = dict.fromkeys(_identifier(match[0]) for match in _NAME.finditer(text))
    return tuple(name for name in candidates if name and name.removesuffix("()") not in COMMON)


def parts(name: str) -> list[str]:
    """The parts of a qualified name."""
    return _PARTS.split(name)


def looks_like_name(name: str) -> bool:
    """Whether a word is recognisable as a name by its shape alone: `setUp`, `set_up`, `SetUp`."""
    return len(name) > 3 and name not in COMMON and bool(_SHAPED.fullmatch(name))


def is_file_name(text: str) -> bool:
    """Whether a path ends with a known file extension."""
    stem, dot, extension = text.rpartition(".")
    return bool(dot and stem) and extension.lower() in _EXTENSIONS


def is_file(path: str) -> bool:
    """Whether a path is that of a file, by its extension or as a name without one: `Makefile`."""
    folder, _, name = path.rpartition("/")
    return is_file_name(path) or bool(_FILES.fullmatch(name) or (folder and _IN_CAPITALS.fullmatch(name)))


def references(text: str) -> tuple[str, ...]:
    """References in a text, in order, each once: tickets, commits, versions, long options, URLs, ports."""
    candidates = dict.fromkeys(_reference(match) for match in _REFERENCE.finditer(text))
    return tuple(name for name in candidates if name)


def paths(text: str) -> tuple[str, ...]:
    """The file paths in a text, in order, each once: those with a known extension or with folders."""
    candidates = dict.fromkeys(_path(match[0]) for match in _PATH.finditer(text))
    return tuple(path for path in candidates if path)


def program_name(words: Sequence[str]) -> str:
    """The usual name of a command: the program and the subcommands that say what it does."""
    if not words or not words[0]:
        return ""
    program = name = _plain_program(words[0])
    rest = words[1:]
    while rest := _after_options(rest, program):
        if name in _LAUNCHERS:
            return f"{name} {program_name(rest)}".rstrip()
        if name not in _WITH_SUBCOMMANDS or not _SUBCOMMAND.fullmatch(rest[0]):
            break
        name = f"{name} {rest[0]}"
        rest = rest[1:]
    return _interpreted(name, words[1:]) if _INTERPRETER.fullmatch(name) else name


_CACHED: Final = 512
"""How many results are cached: a session names the same things again and again."""

# ---------------------------------------------------------------- identifiers

_NAME: Final = compiled(
    # Most positions are within a word, and most words are plain: both are skipped here, where that is cheap.
    # Within a word, a name may follow an escape, whose letter is b, n, r or t.
    r"(?<![ac-mo-qsu-zA-Z0-9_.@/~$%&-])(?=[A-Za-z_])(?![A-Z]?[a-z]*+(?![\w.:(]))"
    # Paths, addresses and options are other kinds of names; the letter of an escape is not part of the name:
    # `\nRetryError`.
    r"(?:(?<![\w.@/~$%&-])(?!(?<=\\)[bnrt])|(?<=\\[bnrt]))(?:"
    r"(?=[A-Za-z0-9]*+(?:_|\.[A-Za-z_]|::|\(\))|[A-Za-z]\w*?[a-z0-9][A-Z]|[A-Z]{2,}[a-z]{2})"
    r"[A-Za-z_]\w*+(?:(?:\.|::)[A-Za-z_]\w*+){0,9}+(?:\(\))?(?![\w@-]|/(?!\d\b))"
    r"|(?:E[0-9]{4}|TS[0-9]{4,5}|SIG(?:KILL|TERM|SEGV|INT|ABRT|HUP|PIPE)|E(?:NOENT|ACCES|PERM|EXIST|INVAL|PIPE"
    r"|AGAIN|MFILE|NOSPC|ISDIR|NOTDIR|NOTEMPTY|CONNREFUSED|CONNRESET|TIMEDOUT|ADDRINUSE|LIFECYCLE))(?![\w/-])"
    r")",
    re.ASCII,
)
_PARTS: Final = compiled(r"\.|::")
_SHAPED: Final = compiled(
    r"_*[A-Za-z0-9]+_\w*|[A-Za-z]\w*[a-z0-9][A-Z]\w*|[A-Z]{2,}[a-z]{2,}\w*|E\w+|TS\d+|SIG\w+",
    re.ASCII,
)
_RANDOM: Final = compiled(r"\d[A-Za-z]+\d+[A-Za-z]+\d", re.ASCII)
_COLOUR: Final = compiled(r"(?=[A-Fa-f]*+\d)[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?", re.ASCII)
_LONGEST: Final = 60


@lru_cache(maxsize=_CACHED)
def _identifier(name: str) -> str:
    """The name as one would look it up; empty if it only looks like one."""
    bare = name.removesuffix("()").removeprefix("self.").removeprefix("this.").removeprefix("cls.")
    if not 4 <= len(bare) <= _LONGEST:
        return name if 4 <= len(name) <= _LONGEST and name.endswith("()") and "." not in name else ""
    parts = _PARTS.split(bare)
    if len(parts) > 1:
        return _qualified(bare, parts, called=bare is not name and name.endswith("()"))
    if _SHAPED.fullmatch(bare):
        # A trailing underscore is only the beginning of a name: `job_${id}`.
        unlike = _RANDOM.search(bare) or _COLOUR.fullmatch(bare) or bare[-1] == "_" != bare[0]
        return "" if unlike else bare
    return name if name.endswith("()") else ""


def _qualified(bare: str, parts: list[str], *, called: bool) -> str:
    file, _, inside = bare.partition("::")
    if inside and is_file_name(file):
        return inside
    if "::" in bare:
        return bare
    last = parts[-1].lower()
    if parts[-1] in COMMON or last in _EXTENSIONS or last in _DOMAINS or max(map(len, parts)) < 3:
        return ""
    # The end of a sentence without a space after it is no name.
    if len(parts) == 2 and parts[0].islower() and parts[1].istitle() and not called:
        return ""
    return bare


_DOMAINS: Final = frozenset("com org net io dev app ai co edu gov uk de fr eu me local internal sh".split())
_EXTENSIONS: Final = frozenset(
    """
    py pyi pyx ipynb js jsx mjs cjs ts tsx mts cts vue svelte astro html htm css scss sass less json jsonl
    yaml yml toml ini cfg conf env lock md mdx rst txt csv tsv sql db sqlite sh bash zsh fish ps1 bat rs go
    mod sum c h cc cpp cxx hpp cs java kt kts scala clj swift m mm rb erb rake php ex exs eex heex leex erl
    hrl hs ru ml mli lua r jl dart zig nim v sv pl pm t xml xsd svg png jpg jpeg gif ico webp pdf zip gz tar
    tgz whl wasm log diff patch proto graphql gql prisma tf tfvars hcl gradle properties plist tmpl tpl
    j2 jinja snap map service dockerfile example sample bak json5
    """.split()
)


# ---------------------------------------------------------------- references

_REFERENCE: Final = compiled(
    # No reference begins within a word, and all but options and URLs contain a digit.
    r"(?<!\w)(?=--|http|[A-Za-z_.:/\#-]{0,110}+[0-9])(?:"
    r"(?P<url>https?://[^\s<>\"'`“”‘’(){}\[\]|\\?#,;]++)[^\s<>\"'`“”‘’(){}\[\]|\\,;]*+"
    # Only complete options: `--no-${what}` is none.
    r"|(?P<flag>(?<!-)--[a-z]\w*+(?:-\w++)*+(?!-))"
    r"|(?P<port>(?<!\.)(?:localhost|127\.0\.0\.1|0\.0\.0\.0):[0-9]{2,5}\b)"
    r"|(?P<issue>(?<![&/\#-])(?:\#|[\w.-]{1,40}+/[\w.-]{1,60}+\#)[0-9]{1,5}\b(?!\w))"
    r"|(?P<ticket>(?<!-)(?=[A-Z])(?:CVE-[0-9]{4}-[0-9]{4,}|[A-Z][A-Z0-9]{1,9}-[0-9]{1,6})(?![\w.-]))"
    r"|(?=[0-9a-fv])(?:"
    r"(?P<version>(?<![.-])(?:v[0-9]+(?:\.[0-9]+){1,2}|[0-9]+\.[0-9]+\.[0-9]+)(?:-(?:[a-z]+\.?)?[0-9]+)?(?![\w.]))"
    r"|(?P<commit>(?<!-)[0-9a-f]{7,40}+(?![\w-]))"
    r"))",
    re.ASCII,
)
_COMMIT_BEFORE: Final = compiled(
    r"(?:\b(?:commits?|committed|sha|head|rev|revision|hash|checkout|cherry-pick(?:ed)?|revert(?:s|ed)?|reset"
    r"|merged?|rebased?|onto|show|parent|base|bisect|tag|pushed|now at)[\s:=@(`'\"]{1,4}(?:--?[a-z]+\s)?"
    r"|\[[\w/.-]{1,60} (?:\(root-commit\) )?|\.\.|(?:\A|\n)[*|/\\ ]{0,8})\Z",
    re.IGNORECASE,
)
_NO_PROJECTS: Final = frozenset(
    "UTF SHA ISO AES RSA MD HTTP TLS SSL UTC GMT RFC IPV ES GPT COVID BASE UCS".split()
)


def _reference(match: re.Match[str]) -> str:
    text = match[0]
    match match.lastgroup:
        case "url":
            return match["url"].rstrip(".,:!*")
        case "ticket":
            return "" if text.partition("-")[0] in _NO_PROJECTS else text
        case "commit":
            before = match.string[max(0, match.start() - 80) : match.start()]
            return text if _is_commit(text, before) else ""
        case _:
            return text


def _is_commit(text: str, before: str) -> bool:
    """Whether a hexadecimal text is a commit: unless it has full length, the words before it must say so."""
    if text.isdigit() or text.isalpha():
        return False
    return len(text) == 40 or bool(_COMMIT_BEFORE.search(before))


# ---------------------------------------------------------------- paths

_SEGMENT: Final = r"(?:\(\w[\w-]{0,30}\)|(?:[\w@+.-]|\[(?:\.\.\.)?\w[\w-]{0,30}\])++)"
_PATH: Final = compiled(
    r"(?<!\w)(?=[\w~/(\[@+.-])(?:"
    r"\w++://[^\s'\"`<>)]*+"
    r"|[A-Za-z]:\\(?:[\w.-]++\\)*+[\w.-]++"
    # Most words are no path, and are skipped here, where that is cheap.
    rf"|(?<![.@:/~*$\\{{}}-])(?=[^\s./]{{0,80}}+[./]|[A-Z][a-z]+file\b)(?:~/|/)?{_SEGMENT}(?:/{_SEGMENT})*+/?(?![\w(*$])"
    r")",
    re.ASCII,
)
_FOLDERS: Final = frozenset(
    """src lib app apps packages tests docs scripts cmd pkg internal components migrations crates examples
    benchmarks node_modules .github .vscode""".split()
)
_NO_FOLDERS: Final = frozenset(
    "origin upstream refs heads feature feat fix application text image audio video multipart and or".split()
)
_FILES: Final = compiled(
    r"(?:Make|Docker|Gem|Rake|Proc|Just|Jenkins|Vagrant|Brew)file"
    r"|\.(?:env|git\w+|\w+rc|\w+ignore|editorconfig|tool-versions|python-version)(?:\.\w+)*"
)
_IN_CAPITALS: Final = compiled(r"[A-Z]{4,}(?:[_-][A-Z]+)*+")
"""File names without an extension: `.github/CODEOWNERS`."""
_PRODUCTS: Final = frozenset(
    "node.js next.js vue.js nuxt.js three.js d3.js express.js react.js asp.net".split()
)


@lru_cache(maxsize=_CACHED)
def _path(text: str) -> str:
    """The path as one would open it; empty if the text only looks like one."""
    path = text.lstrip("+").rstrip(".").removeprefix("./")
    if "://" in text or len(text) > 300 or path.startswith(("-", "/dev/", "/proc/")):
        return ""
    first, slash, _ = path.partition("/")
    # Users refer to a file with `@`; the scope of a package begins with it too.
    if first[:1] == "@" and (not slash or first[1:] in _FOLDERS):
        path = path[1:]
    return path if (_has_folders(path) if slash else _stands_alone(path)) else ""


def _stands_alone(name: str) -> bool:
    """Whether a word without folders is a file name, not a product or an attribute."""
    stem, _, extension = name.rpartition(".")
    if _FILES.fullmatch(name) or name[1:3] == ":\\":
        return True
    if name.lower() in _PRODUCTS or extension in COMMON or not stem.strip("."):
        return False
    return is_file_name(name) and (len(extension) > 1 or (extension in "ch" and len(stem) > 1))


def _has_folders(path: str) -> bool:
    """Whether a word with slashes is a path, not alternatives, a branch, a date or a media type."""
    first, *rest = path.rstrip("/").split("/")
    if is_file_name(path):
        return not any(is_file_name(part) and part.lower() not in _PRODUCTS for part in (first, *rest[:-1]))
    # The parts of a substitution (`s/a/b`) and installed programs are no folders.
    if (first in {"s", "y"} and len(rest) > 1) or ".bin" in rest[:-1]:
        return False
    if first in {"", "~", "..", "."}:
        return len(rest) > 1 or bool(first and rest)
    if first.lower() in _NO_FOLDERS or first.isdigit() or first.rpartition(".")[2] in _DOMAINS:
        return False
    if len(rest) > 1:
        return any(part in _FOLDERS or not part.isalpha() for part in (first, *rest))
    return first in _FOLDERS or (path.endswith("/") and not rest and len(first) > 2)


# ---------------------------------------------------------------- programs

_WITH_SUBCOMMANDS: Final = frozenset(
    """
    git npm pnpm yarn bun deno cargo go mix gh glab docker podman docker-compose kubectl helm uv pip pip3
    poetry pdm hatch rye pipenv conda brew apt apt-get dnf systemctl terraform make just task mise rails rake
    bundle composer dotnet gradle gradlew ./gradlew mvn ./mvnw sbt stack cabal rustup swift zig flutter dart
    nx turbo lerna tmux biome prisma alembic supabase vercel wrangler heroku aws gcloud az ruff black tox nox
    pre-commit jj hg svn
    """.split()
).union(
    word.strip()
    for word in """
    npm run, pnpm run, yarn run, bun run, docker compose, docker image, docker container, docker volume,
    docker network, podman compose, gh pr, gh issue, gh run, gh repo, gh release, gh workflow, glab mr,
    uv pip, uv tool, uv python, git stash, git worktree, git remote, git submodule, git bisect, go mod,
    go tool, mise run, cargo nextest, deno task, turbo run, nx run, aws s3, kubectl rollout, dotnet ef, jj git
    """.split(",")
)
"""Programs, or a program and a subcommand, that are named together with the next word."""
_LAUNCHERS: Final = frozenset(
    word.strip()
    for word in """
    npx, bunx, uvx, uv run, poetry run, pdm run, hatch run, rye run, pipenv run, pipx run, bundle exec,
    npm exec, pnpm exec, pnpm dlx, yarn dlx, xvfb-run, dotenv, cross-env
    """.split(",")
)
_SUBCOMMAND: Final = compiled(r"[A-Za-z@][\w:.@+-]{0,40}")
_INTERPRETER: Final = compiled(
    r"python[\d.]*|pypy\d*|node|bun|deno|ruby|php|perl|bash|sh|zsh|tsx|ts-node|elixir"
)
_VALUED: Final = frozenset(
    """-C -c --prefix --filter -F --cwd --directory --dir -R --repo --context --namespace -f --file --project
    --project-name -w --workspace --with --extra --group --python --package --git-dir --work-tree --config
    --manifest-path --profile --region""".split()
)


def _plain_program(word: str) -> str:
    """A program without its `bin` folder; a script keeps its path."""
    folder, _, name = word.rpartition("/")
    return name if not folder or folder.endswith("bin") else word


def _after_options(words: Sequence[str], program: str) -> Sequence[str]:
    while words and words[0][:1] in {"-", "+"} and words[0] != "-":
        valued = words[0] in _VALUED or (words[0] == "-n" and program in {"kubectl", "helm"})
        words = words[2 if valued else 1 :]
    return words


def _interpreted(name: str, args: Sequence[str]) -> str:
    """The interpreter with what it runs: a module, a script or inline code."""
    for at, arg in enumerate(args):
        if arg == "-m" and at + 1 < len(args):
            return f"{name} -m {program_name(args[at + 1 :])}"
        if arg in {"-c", "-e", "--test", "-r", "-"}:
            return name if arg == "-" else f"{name} {arg}"
        if not arg.startswith("-"):
            return f"{name} {arg}" if arg else name
    return name
