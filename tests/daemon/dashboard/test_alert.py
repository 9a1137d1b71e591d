"""Every page, and what a program asks about health, say that settings stop everything while they do."""

from __future__ import annotations

import pytest

from tests.daemon.api.served import Caller
from tests.daemon.conftest import Lodging, wait_until


def test_pages_and_health_name_settings_that_cannot_be_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    lodging = Lodging(tmp_path_factory.mktemp("alert"))
    settings = lodging.home / "config.toml"
    marker = lodging.home / "run" / "stopped"
    pages = ("/", "/briefs", "/memory", "/continuity", "/review", "/health", "/sessions/none")
    try:
        lodging.start()
        caller = Caller(lodging)
        assert b'role="alert"' not in caller.ask("/").body
        settings.write_text("[capture]\nexclude = 'x'\n")
        for page in pages:
            body = caller.ask(page).body.decode()
            assert 'role="alert"' in body
            assert "line 2: <code>capture.exclude</code> must be a list" in body
        health = caller.get("/api/health")
        finding = next(one for one in health["findings"] if one["check"] == "config")
        assert (health["ok"], finding["ok"], finding["fix"]) == (False, False, "correct or remove it")
        refused = caller.ask("/api/memories", "POST", {"text": "the port is 8080", "scope": "user"})
        assert refused.status == 409
        assert "nothing is captured, stored or shared" in refused.json["error"]
        wait_until(marker.exists)
        settings.write_text("[capture]\nexclude = ['x']\n")
        wait_until(lambda: not marker.exists())
        assert b'role="alert"' not in caller.ask("/").body
    finally:
        lodging.end()
