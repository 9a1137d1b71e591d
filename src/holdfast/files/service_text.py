"""Service: the daemon as something that the system starts when its user logs in, as a text for each system.

It is not needed: hooks start the daemon by themselves. Nothing is written or started here.
"""

from __future__ import annotations

import plistlib
from typing import Final

from holdfast.lazy_dataclass import dataclass

MARK: Final = "written by `holdfast service install`"
"""By this a file is known to be ours."""
LABEL: Final = "dev.holdfast.daemon"
UNIT: Final = "holdfast.service"


@dataclass(frozen=True, slots=True)
class Service:
    """Which Python runs the daemon of which home."""

    python: str
    home: str

    @property
    def command(self) -> tuple[str, ...]:
        return (self.python, "-P", "-m", "holdfast.daemon")

    @property
    def environment(self) -> dict[str, str]:
        # What the system keeps alive is not to leave when nobody needs it.
        return {"HOLDFAST_HOME": self.home, "HOLDFAST_DAEMON_IDLE_EXIT_MINUTES": "0"}


def systemd_unit(service: Service) -> str:
    """The unit for systemd's manager of a user's services."""
    environment = "\n".join(
        f"Environment={_quoted(f'{name}={value}')}" for name, value in service.environment.items()
    )
    # A `$` would name a variable in a command, though not in an environment.
    command = " ".join(_quoted(word).replace("$", "$$") for word in service.command)
    return f"""\
# {MARK}; `holdfast service remove` takes it away
[Unit]
Description=Holdfast keeps the work of coding agents

[Service]
ExecStart={command}
{environment}
WorkingDirectory=/
UMask=0077
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
"""


def launchd_agent(service: Service) -> str:
    """The property list for launchd's agents of a user."""
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(service.command),
        "EnvironmentVariables": service.environment,
        "WorkingDirectory": "/",
        "Umask": 0o077,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
    }
    head, between, rest = plistlib.dumps(agent, sort_keys=False).decode().partition("<plist")
    return f"{head}<!-- {MARK} -->\n{between}{rest}"


def _quoted(word: str) -> str:
    """A word as systemd reads it: quoted, and with nothing in it that it would replace."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{plain}"'
