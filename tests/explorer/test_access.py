"""Access to servers that are started in each way, and attacked."""

import contextlib
import functools
import re
import socket
import time
from pathlib import Path

import pytest
from attacks import Client, hand_made
from bokeh.util.token import (
    generate_jwt_token,
    generate_session_id,
    get_session_id,
    get_token_payload,
)
from explorer_servers import EXPLORE, QUICK, Served

ROOT = Path(__file__).parents[2]
PASSWORD = "correct horse ☃"
NAMED = "https://example.org"
FRAMED = """
import asyncio, re
from kdegraph_explorer import Explorer

async def notebook():
    frame = Explorer([[0.0], [0.1], [5.0]], sigma=1.0, n_clusters=2, n_rounds=2)._display_()
    print(re.search('src="([^"]+)"', frame._repr_html_())[1], flush=True)
    await asyncio.Event().wait()

asyncio.run(notebook())
"""
WITH_PASSWORD = ("--password-file", "password.txt", "--allow-origin", NAMED)
PANEL = ("-m", "panel", "serve", str(ROOT / "apps" / "explorer.py"), "--port", "0")
WAYS = {  # how a server is started
    "alone": ("-m", "kdegraph", *EXPLORE),
    "everywhere": ("-c", QUICK, *EXPLORE, "--host", "0.0.0.0"),
    "token": ("-c", QUICK, *EXPLORE, "--token", "--prefix", "two/"),
    "password": ("-c", QUICK, *EXPLORE, *WITH_PASSWORD, "--prefix", "/one"),
    "frame": ("-c", FRAMED),
    "panel": PANEL,
    "signed panel": PANEL,
}
SEEN = {  # a part of what each shows; in a frame, until a browser answers
    **dict.fromkeys(("alone", "panel", "signed panel"), "Kernel width"),
    **dict.fromkeys(("everywhere", "token", "password"), "a quick page"),
    "frame": "Starting",
}
PROTECTED = ("everywhere", "token", "password")
OURS = ("alone", *PROTECTED, "frame")
SIGNED = {"BOKEH_SIGN_SESSIONS": "yes", "BOKEH_SECRET_KEY": "of this test"}
FRESH = 120  # seconds; tokens are refused after 300
EVIL = "http://evil.example"
POLICY = "Content-Security-Policy"


class Way(Served):
    """A server that is started in some way."""

    def __init__(self, name, folder):
        signed = SIGNED if name == "signed panel" else {}
        super().__init__(
            WAYS[name], folder / f"{name}.log", folder, KDEGRAPH_STATE_DIR=str(folder), **signed
        )
        self.password = PASSWORD if name == "password" else None
        self._entered = -FRESH

    def client(self):
        """Someone who has entered as they should, and the token of their page."""
        if time.monotonic() > self._entered + FRESH:
            self._client, self._entered = Client(self.address), time.monotonic()
            self._token = self._client.enter(self.password).token()
        return self._client, self._token


@pytest.fixture(scope="module")
def ways(tmp_path_factory):
    """Starts a server in a way when it is first asked for."""
    folder = tmp_path_factory.mktemp("access")
    (folder / "password.txt").touch(mode=0o600)
    (folder / "password.txt").write_text(f"{PASSWORD}\n", encoding="utf-8")
    with contextlib.ExitStack() as running:

        @functools.cache
        def start(name):
            return running.enter_context(Way(name, folder))

        yield start


@pytest.fixture(scope="module")  # so that the tests of a way follow each other
def way(ways, request):
    return ways(request.param)


def of_ways(*names):
    return pytest.mark.parametrize("way", names, indirect=True, scope="module")


# ---- the right use


@of_ways(*WAYS)
def test_those_who_may_enter_see_the_page(way, request):
    client, token = way.client()
    seen = SEEN[request.node.callspec.params["way"]]
    assert seen in client.document(token, Origin=f"http://{client.host}")


def test_the_start_says_who_can_enter(ways):
    token = r"\?token=[\w-]{43}"
    others = rf"and from others as http://{socket.gethostname()}:\d+/{token}"
    for name, place, who in (
        ("alone", "/", " only"),
        ("everywhere", f"/{token}", f" {others}, by whoever knows the token"),
        ("token", f"/two/{token}", " only, by whoever knows the token"),
        ("password", "/one/", f" and as {NAMED}, by whoever knows the password"),
    ):
        address, words, *_ = ways(name).said.splitlines()
        stop = r"  \(Ctrl\+C stops it\)"
        assert re.fullmatch(rf"kdegraph explorer: http://localhost:\d+{place}{stop}", address)
        assert re.fullmatch(rf"It can be opened from this machine{who}\.", words)


# Names that are right for a way, besides that in the printed address: Host and Origin.
RIGHT = {
    "alone": [
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}"),
        ("[::1]:{port}", "http://[::1]:{port}"),
        ("LOCALHOST:{port}", "http://localhost:{port}"),
        ("localhost:9", "http://localhost:9"),  # through a tunnel
        ("localhost", "https://localhost"),
        ("localhost:{port}", None),  # a program
    ],
    "everywhere": [("{machine}:{port}", "http://{machine}:{port}")],
    "token": [("[::1]:{port}", "http://[::1]:{port}")],
    "password": [
        ("example.org", "https://example.org"),
        ("127.0.0.1:{port}", "https://example.org"),  # a proxy with a name of its own
    ],
}


@of_ways(*RIGHT)
def test_other_names_of_a_server_are_right(way, request):
    client, token = way.client()
    names = {"port": client.port, "machine": socket.gethostname()}
    for host, origin in RIGHT[request.node.callspec.params["way"]]:
        host, origin = host.format(**names), origin and origin.format(**names)
        path = f"{client.path.rstrip('/')}/metadata"
        assert client.send(path=path, Host=host).status == 200
        if "[" in host:  # a page can be opened by an address of IPv6, too
            page = client.send(Host=host)
            assert page.status == 200
            token = page.token()
        assert client.connects(token, Host=host, Origin=origin)


def test_a_machine_answers_to_its_own_address(ways):
    with socket.socket(type=socket.SOCK_DGRAM) as way_out:
        with contextlib.suppress(OSError):
            way_out.connect(("192.0.2.1", 9))  # sends nothing
        address = way_out.getsockname()[0]
    if address in ("0.0.0.0", "127.0.0.1"):
        pytest.skip("this machine has no other address")
    here, token = ways("everywhere").client()
    there = Client(ways("everywhere").address.replace("localhost", address))
    there.cookie = here.cookie
    assert there.connects(token, Origin=f"http://{there.host}")
    assert not there.connects(token, Origin=f"http://{here.host}x")
    assert not here.connects(token, Host=there.host, Origin=f"http://{there.host}")


def test_the_page_names_no_other_host_and_lets_the_browser_run_its_own_scripts_only(ways):
    nonces = set()
    for _ in range(2):
        _, headers, page = Client(ways("alone").address).send()
        assert "<title>kdegraph explorer</title>" in page
        loaded = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
        assert loaded
        assert not [place for place in loaded if re.match(r"(https?:)?//", place)]
        (policy,) = re.findall(f'<meta http-equiv="{POLICY}" content="([^"]*)">', page)
        policy = dict(directive.split(" ", 1) for directive in policy.split("; "))
        (nonce,) = re.fullmatch(r"'nonce-([\w-]{20,})'", policy["script-src"]).groups()
        nonces.add(nonce)
        assert page.index(POLICY) < page.index("<script")
        assert set(re.findall(r"<script\b( nonce=\"[^\"]*\")?", page)) == {f' nonce="{nonce}"'}
        assert policy["default-src"] == policy["object-src"] == policy["base-uri"] == "'none'"
        allowed = {source for sources in policy.values() for source in sources.split()}
        others = {"'none'", "'self'", "'unsafe-inline'", "blob:", "data:"}
        assert allowed == {f"'nonce-{nonce}'", *others}
        assert [name for name, sources in policy.items() if "unsafe" in sources] == ["style-src"]
        assert headers[POLICY].startswith("frame-ancestors 'self' ")
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert len(nonces) == 2


# ---- attacks: by someone who has entered as they should, unless an attack says otherwise

NAMES = {  # that come with a request for the page, and with a connection
    "foreign origin": {"Origin": EVIL},
    "foreign origin on this machine": {"Origin": "http://localhost:{other_port}"},
    "no origin at all": {"Origin": "null"},
    "foreign host": {"Host": "evil.example"},
    "foreign host with the same origin": {
        "Host": "evil.example:{port}",
        "Origin": "http://evil.example:{port}",
    },
    "foreign host behind a proxy": {
        "Host": "evil.example",
        "Origin": EVIL,
        "X-Forwarded-Host": "{host}",
    },
}
SESSIONS = {  # that a request chooses
    "in the address": {"query": "bokeh-session-id=fixed123"},
    "in other letters": {"query": "%62okeh-session-id=fixed123"},
    "in a header": {"Bokeh_Session_Id": "fixed123"},
}
REQUESTS = {
    **SESSIONS,
    "no host": {"Host": None},
    "session in the body": {"body": "bokeh-session-id=fixed123"},
    "session of another": {"query": "bokeh-session-id={session}"},
    "token of another": {"query": "bokeh-token={token}"},
    "scripts from elsewhere": {"query": "bokeh-absolute-url=https://evil.example/x"},
    "script for another page": {
        "path": "{path}/metadata",
        "Sec_Fetch_Site": "cross-site",
        "Sec_Fetch_Mode": "no-cors",
    },
    "method of a preflight": {"method": "OPTIONS", "path": "{path}/autoload.js"},
}
KEY = {"secret_key": b"mine", "signed": True}
TOKENS = {  # that somebody has made
    "without a signature": lambda token: hand_made("abc"),
    "with a wrong signature": lambda token: hand_made(
        get_session_id(token), token.partition(".")[2]
    ),
    "with a key of one's own": lambda token: generate_jwt_token(generate_session_id(**KEY), **KEY),
    "for a known session": lambda token: hand_made(get_session_id(token)),
}


def filled(parts, client, token):
    """The parts of an attack, with the values of someone who has entered in their places."""
    values = {
        "port": client.port,
        "other_port": client.port + 1,
        "host": client.host,
        "path": client.path.rstrip("/"),
        "token": token,
        "session": get_session_id(token),
    }
    return {name: part and part.format(**values) for name, part in parts.items()}


def check_forged_tokens(client, token):
    for make in TOKENS.values():
        assert not client.connects(make(token))
        assert not client.connects(make(token), Origin=f"http://{client.host}")


@of_ways(*OURS)
def test_attacks_are_refused(way):
    client, token = way.client()
    for name, attack in {**NAMES, **REQUESTS}.items():
        parts = filled(attack, client, token)
        answer = client.send(**parts)
        assert answer.status == (400 if name == "no host" else 403)
        assert "Bokeh" not in answer.text
        assert name not in NAMES or not client.connects(token, **parts)
    check_forged_tokens(client, token)


@of_ways(*OURS)
def test_health_is_told_to_anybody_and_opens_nothing_else(way):
    client, _ = way.client()
    place = f"{client.path.rstrip('/')}/health"
    for host in (client.host, "evil.example"):
        answer = client.send(path=place, Host=host, Cookie=None)
        assert (answer.status, answer.text) == (200, "ok\n")
        assert "Set-Cookie" not in answer.headers
        assert client.send(path=f"{place}/x", Host="evil.example", Cookie=None).status in (403, 404)


@of_ways("panel")
def test_the_page_refuses_attacks_on_panels_server(way):
    client, token = way.client()
    same = NAMES["foreign host with the same origin"]
    for attack in (same, *SESSIONS.values(), REQUESTS["scripts from elsewhere"]):
        page = client.send(**filled(attack, client, token))
        assert page.status == 200
        assert "evil" not in page.text
        document = client.document(page.token())
        assert re.search(r"This (server does not answer|page chooses sessions itself)", document)
        assert SEEN["panel"] not in document
    # A token that is made by hand may say that the page was asked for by another name.
    token = hand_made("abc", headers={"Host": client.host}, cookies={}, arguments={})
    document = client.document(token, Host="evil.example", Origin=EVIL)
    assert "does not answer to the name" in document
    assert SEEN["panel"] not in document


@of_ways("signed panel")
def test_panels_server_with_signed_sessions_takes_none_that_are_made_by_hand(way):
    client, token = way.client()
    for attack in SESSIONS.values():
        assert client.send(**attack).status == 403
    assert not client.connects(token, **NAMES["foreign origin"])
    check_forged_tokens(client, token)


# ---- servers that ask for a token or a password


@of_ways(*PROTECTED)
def test_nothing_is_seen_without_the_cookie(way):
    client, token = way.client()
    stranger = Client(way.address)
    pages = ["", "metadata", "autoload.js?bokeh-autoload-element=1", "static/js/bokeh.min.js", "x"]
    for path in (*pages, "components/panel.widgets/Button/_css/x"):
        answer = stranger.send(path=client.path + path)
        assert answer.status == 403
        assert "Bokeh" not in answer.text
    assert stranger.send(path="/favicon.ico").status == (403 if client.path == "/" else 404)
    assert not stranger.connects(token, Origin=f"http://{client.host}")


def test_wrong_words_are_refused(ways):
    client = Client(ways("token").address)
    for word in ("", "wrong", client.query.removeprefix("token=") + "x", "%E2%98%83"):
        assert client.send(query=f"token={word}").status == 403
        assert client.send(method="POST", body=f"word={word}").status == 403
    stranger = Client(ways("password").address)
    assert stranger.send(query=f"token={PASSWORD.split()[0]}").status == 403
    assert stranger.send(method="POST", body="word=correct").status == 403
    assert client.send(method="POST", body=client.query, Origin=EVIL).status == 403


@of_ways(*PROTECTED)
def test_cookies_are_kept_from_scripts_and_other_paths(way):
    client = Client(way.address)
    if way.password:
        send = {"method": "POST", "body": "word=correct+horse+%E2%98%83"}
    else:
        send = {"query": client.query}
    for proxy, secure in ((None, False), ("https", True)):
        answer = client.send(X_Forwarded_Proto=proxy, **send)
        assert answer.status == 303
        assert answer.headers["Location"] == client.path
        cookie, *flags = answer.headers["Set-Cookie"].split("; ")
        assert cookie.startswith(f"kdegraph-{client.port}=")
        assert {flag.lower() for flag in flags} == {
            "httponly",
            "samesite=lax",
            f"path={client.path.rstrip('/') or '/'}",
            *(["secure"] if secure else []),
        }


def test_the_address_keeps_its_query_when_its_token_goes(ways):
    client = Client(ways("token").address)
    answer = client.send(query=f"sigma=0.3&{client.query}&source=generators&x=")
    assert answer.headers["Location"] == "/two/?sigma=0.3&source=generators&x="
    client.enter()
    # Who has entered may open it again, even when the token is another one by now.
    assert client.send(query="token=old&a=%26").headers["Location"] == "/two/?a=%26"
    other = Client(ways("everywhere").address)
    assert other.send(path="//evil.example/", query=other.query).headers["Location"] == "/"


def test_cookies_of_one_server_do_not_open_another(ways):
    thief, _ = ways("token").client()
    victim = Client(ways("password").address)
    value = thief.cookie.partition("=")[2]
    for cookie in (thief.cookie, f"kdegraph-{victim.port}={value}", f"kdegraph-{victim.port}=in"):
        assert victim.send(Cookie=cookie).status == 403
    # What comes first wins: neither a second cookie nor a longer name lets anybody in.
    mine, _ = ways("password").client()
    assert victim.send(Cookie=f"x{mine.cookie}").status == 403
    changed = mine.cookie[:-1] + ("0" if mine.cookie[-1] != "0" else "1")
    assert victim.send(Cookie=changed).status == 403


def test_neither_cookies_nor_headers_stand_in_the_page(ways):
    client, _ = ways("password").client()
    answer = client.send(X_Secret="a secret")
    payload = get_token_payload(answer.token())
    assert client.cookie.partition("=")[2] not in str(payload)
    assert "a secret" not in str(payload)
    assert not payload["headers"]
    assert not payload["cookies"]
