"""Names under which a server may be asked, and places where it listens."""

import sys

import pytest
from kdegraph_explorer.app import origins_of_panel
from kdegraph_explorer.serving.origins import Origin, Origins, read_origin
from kdegraph_explorer.serving.servers import Place, read_prefix


def test_origins_that_are_read():
    for text, origin, written in (
        ("example.org", ("", "example.org", None), "example.org"),
        ("Example.ORG:8080", ("", "example.org", 8080), "example.org:8080"),
        ("https://example.org", ("https", "example.org", None), "https://example.org"),
        ("https://example.org:443", ("https", "example.org", None), "https://example.org"),
        ("HTTP://example.org:443", ("http", "example.org", 443), "http://example.org:443"),
        ("example.org:80", ("", "example.org", None), "example.org"),
        ("my_host-1", ("", "my_host-1", None), "my_host-1"),
        ("192.168.1.5:80", ("", "192.168.1.5", None), "192.168.1.5"),
        ("[0:0:0:0:0:0:0:1]:5006", ("", "::1", 5006), "[::1]:5006"),
        ("http://[2001:DB8::1]", ("http", "2001:db8::1", None), "http://[2001:db8::1]"),
    ):
        assert read_origin(text) == Origin(*origin)
        assert str(read_origin(text)) == written


def test_what_is_no_origin_is_refused():
    for text in (
        *("", "*", "*.example.org", "example.org:*", "https://", "ftp://example.org"),
        *("https://example.org/", "example.org/path", "user@example.org", "example.org:", ":80"),
        *("example.org:0", "example.org:65536", "example.org:8a", "a b", " example.org", "a,b"),
        *("example.org\n", "::1", "[::1", "[::g]", "[1.2.3.4]", "bücher.example", "//example.org"),
    ):
        with pytest.raises(ValueError, match=r"--allow-origin: .*(is not an origin|between 1 and)"):
            read_origin(text)
    # The name of a machine, too, but never an origin that is listed.
    assert Origins(port=5006).refusal("localhost:5006", "null") is not None


HERE = "localhost:5006"


REQUESTS = (
    ([], HERE, None, True),
    ([], HERE, "http://127.0.0.1:5006", True),
    ([], "127.0.0.1:5006", "http://localhost:5006", True),
    ([], "[::1]:5006", "http://[::1]:5006", True),
    ([], "localhost:8080", "http://localhost:8080", True),
    ([], HERE, "http://localhost:8080", False),
    ([], HERE, "http://localhost", False),
    ([], "localhost:8080", "http://localhost:9090", False),
    ([], "localhost.evil.example:5006", None, False),
    ([], "evil.example", None, False),
    ([], "localhost.", None, False),
    ([], "", None, False),
    ([], "localhost, evil.example", None, False),
    ([], "user@localhost", None, False),
    ([], HERE, "", False),
    ([], HERE, "vscode-webview://abc", False),
    ([], HERE, "http://localhost:5006/", False),
    (["example.org"], "example.org", "https://example.org", True),
    (["example.org"], "example.org:5006", "http://example.org:5006", True),
    (["example.org"], "example.org:8080", None, False),
    (["example.org"], "sub.example.org", None, False),
    (["example.org:8080"], "example.org:8080", "http://example.org:8080", True),
    (["example.org:8080"], "example.org", None, False),
    (["https://example.org"], "example.org", "https://example.org", True),
    (["https://example.org"], "EXAMPLE.org", "https://example.org:443", True),
    (["https://example.org"], "example.org", "http://example.org", False),
    (["https://example.org"], "example.org:5006", None, False),
    (["https://example.org"], HERE, "https://example.org", True),
    (["https://example.org"], "evil.example", "https://example.org", False),
    (["https://example.org"], "example.org", "https://evil.example", False),
)


def test_which_requests_are_answered():
    for named, host, origin, answered in REQUESTS:
        origins = Origins(map(read_origin, named), port=5006)
        assert (origins.refusal(host, origin) is None) == answered


def test_an_address_of_this_machine_is_answered_where_it_was_reached():
    origins = Origins(port=5006)
    assert origins.refusal("192.168.1.5:5006", "http://192.168.1.5:5006") is not None
    reached = {"reached": "192.168.1.5"}
    assert origins.refusal("192.168.1.5:5006", "http://192.168.1.5:5006", **reached) is None
    assert origins.refusal("192.168.1.5:5006", "http://192.168.1.5:80", **reached) is not None
    assert origins.refusal("192.168.1.6:5006", **reached) is not None
    # A refusal says what to do.
    assert "--allow-origin example.org:81." in origins.refusal("example.org:81")
    assert "--allow-origin https://x." in origins.refusal(HERE, "https://x")
    assert "--allow-origin HOST" in origins.refusal("<b>")


def test_panels_own_flags_name_origins(monkeypatch):
    command = "panel serve app.py --allow-websocket-origin one.org --port 1 --args x --y"
    monkeypatch.setattr(sys, "orig_argv", [*command.split(), "--allow-websocket-origin=*"])
    monkeypatch.setenv("BOKEH_ALLOW_WS_ORIGIN", "two.org:81,*.three.org")
    assert list(map(str, origins_of_panel())) == ["one.org", "two.org:81"]


def test_prefixes_that_are_read_and_refused():
    read = {"": "", "/": "", "a": "/a", "/a/b-1/": "/a/b-1", "/~me/x.y": "/~me/x.y"}
    for text, prefix in read.items():
        assert read_prefix(text) == prefix
    for text in ("..", "a/../b", ".a", "a//b", "a b", "a?b", "(.*)", "ä", "a\n"):
        with pytest.raises(ValueError, match=r"--prefix: .* is not a path such as /kdegraph"):
            read_prefix(text)


def test_only_loopback_addresses_are_for_this_machine_alone():
    for host in ("127.0.0.1", "::1", "localhost", "127.0.0.2"):
        assert Place(host).is_local
    for host in ("0.0.0.0", "::", "", "0", "192.0.2.1"):
        assert not Place(host).is_local
