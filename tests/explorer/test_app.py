"""The explorer as a program that serves a page."""

import gc
import re
import subprocess
import sys
import urllib.request
from types import SimpleNamespace

import pytest
from explorer_actions import PATIENCE
from kdegraph_explorer import app


@pytest.fixture(scope="module")
def address():
    """The address that `serve` prints, in a process of its own."""
    code = "from kdegraph_explorer.app import serve; serve(None, '127.0.0.1', 0)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    yield re.search(r"http://\S+", process.stdout.readline()).group()
    process.terminate()
    process.communicate(timeout=PATIENCE)


def test_serves_a_page_that_names_no_other_host(address):
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        page = answer.read().decode()
    assert "<title>kdegraph explorer</title>" in page
    loaded = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
    assert loaded
    assert not [reference for reference in loaded if re.match(r"(https?:)?//", reference)]


def policy_of(page):
    """The directives of the content security policy in a page."""
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    return dict(directive.split(" ", 1) for directive in policy.split("; "))


def test_page_lets_the_browser_run_its_own_scripts_only(address):
    nonces = set()
    for _ in range(2):
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            page, headers = answer.read().decode(), answer.headers
        policy = policy_of(page)
        (nonce,) = re.fullmatch(r"'nonce-([\w-]{20,})'", policy["script-src"]).groups()
        nonces.add(nonce)
        assert page.index("Content-Security-Policy") < page.index("<script")
        assert set(re.findall(r"<script\b( nonce=\"[^\"]*\")?", page)) == {f' nonce="{nonce}"'}
        assert policy["default-src"] == policy["object-src"] == policy["base-uri"] == "'none'"
        allowed = {source for sources in policy.values() for source in sources.split()}
        others = {"'none'", "'self'", "'unsafe-inline'", "blob:", "data:"}
        assert allowed == {f"'nonce-{nonce}'", *others}
        assert [name for name, sources in policy.items() if "unsafe" in sources] == ["style-src"]
        assert headers["Content-Security-Policy"].startswith("frame-ancestors 'self' ")
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert len(nonces) == 2


def test_what_only_the_first_result_needs_is_not_imported_before_a_page_is_served():
    code = (
        "import sys, kdegraph_explorer.app; from kdegraph_explorer.process import LIBRARIES; "
        "print(*(name for name in (*LIBRARIES, 'scipy.ndimage') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_what_was_imported_is_no_garbage_to_be_searched_while_pages_are_served(monkeypatch):
    spared = []
    loop = SimpleNamespace(start=lambda: spared.append(gc.get_freeze_count()))
    server = SimpleNamespace(port=5006, prefix="", start=lambda: None, io_loop=loop)
    monkeypatch.setattr(app, "server_of", lambda *args, **options: server)
    monkeypatch.setattr(app, "application_of", lambda server: None)
    monkeypatch.setattr(app, "keep_spare", lambda application: None)
    monkeypatch.setattr(app.process, "start", lambda: None)
    app.serve()
    assert spared[0] > 100_000
    assert gc.get_freeze_count() == 0
