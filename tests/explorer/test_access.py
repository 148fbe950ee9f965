"""Access to servers that are started in each way, and attacked."""

import contextlib
import functools
import os
import re
import socket
import subprocess
import sys
import time
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace

import pytest
from attacks import Client, hand_made
from bokeh.util.token import (
    generate_jwt_token,
    generate_session_id,
    get_session_id,
    get_token_payload,
)
from explorer_objects import PATIENCE
from kdegraph_explorer.serving.access import Access, Cookie, Guesses, read_password

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
# The command with a page that is made quickly.
QUICK = """
import sys
import panel as pn
from kdegraph.cli import main
from kdegraph_explorer import app

app.create_app = lambda file, checked: pn.pane.Str("a quick page")
app.process.start = lambda: None
main(sys.argv[1:])
"""
EXPLORE = ("explore", "--no-browser", "--port", "0")
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


class Way:
    """A server that is started in some way.

    Attributes
    ----------
    address : str
    said : str
        What it has printed.
    """

    def __init__(self, name, folder):
        self.password = PASSWORD if name == "password" else None
        self._entered = -FRESH
        self._log = (folder / f"{name}.log").open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, *WAYS[name]],
            cwd=folder,
            env={
                **os.environ,
                **(SIGNED if name == "signed panel" else {}),
                "KDEGRAPH_STATE_DIR": str(folder),
                "PYTHONUNBUFFERED": "1",
            },
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def wait(self):
        """Wait until it has said where it is."""
        end, log = time.monotonic() + PATIENCE, Path(self._log.name)
        while not (address := re.search(r"(http://\S+).*\n", said := log.read_text())):
            assert self._process.poll() is None, said
            assert time.monotonic() < end, said
            time.sleep(0.1)
        self.address, self.said = address[1], said
        return self

    def client(self):
        """Someone who has entered as they should, and the token of their page."""
        if time.monotonic() > self._entered + FRESH:
            self._client, self._entered = Client(self.address), time.monotonic()
            self._token = self._client.enter(self.password).token()
        return self._client, self._token

    def end(self):
        self._process.terminate()
        self._process.wait(PATIENCE)
        self._log.close()


@pytest.fixture(scope="module")
def ways(tmp_path_factory):
    """Starts a server in a way when it is first asked for."""
    folder = tmp_path_factory.mktemp("access")
    (folder / "password.txt").touch(mode=0o600)
    (folder / "password.txt").write_text(f"{PASSWORD}\n", encoding="utf-8")
    with contextlib.ExitStack() as running:

        @functools.cache
        def start(name):
            way = Way(name, folder)
            running.callback(way.end)
            return way.wait()

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
    said = {way: ways(way).said.splitlines()[:2] for way in ("alone", *PROTECTED)}
    assert re.fullmatch(
        r"kdegraph explorer: http://localhost:\d+/  \(Ctrl\+C stops it\)", said["alone"][0]
    )
    assert said["alone"][1] == "It can be opened from this machine only."
    assert re.search(rf"http://localhost:\d+/{token}  \(Ctrl", said["everywhere"][0])
    others = rf"and from others as http://{socket.gethostname()}:\d+/{token}"
    assert re.fullmatch(
        rf"It can be opened from this machine {others}, by whoever knows the token\.",
        said["everywhere"][1],
    )
    assert re.search(rf"http://localhost:\d+/two/{token}  \(Ctrl", said["token"][0])
    assert said["token"][1] == (
        "It can be opened from this machine only, by whoever knows the token."
    )
    assert re.search(r"http://localhost:\d+/one/  \(Ctrl", said["password"][0])
    assert said["password"][1] == (
        f"It can be opened from this machine and as {NAMED}, by whoever knows the password."
    )


# Names that are right for a way, besides that in the printed address: Host and Origin.
@pytest.mark.parametrize(
    ("way", "host", "origin"),
    [
        ("alone", "127.0.0.1:{port}", "http://127.0.0.1:{port}"),
        ("alone", "[::1]:{port}", "http://[::1]:{port}"),
        ("alone", "LOCALHOST:{port}", "http://localhost:{port}"),
        ("alone", "localhost:9", "http://localhost:9"),  # through a tunnel
        ("alone", "localhost", "https://localhost"),
        ("alone", "localhost:{port}", None),  # a program
        ("everywhere", "{machine}:{port}", "http://{machine}:{port}"),
        ("password", "example.org", "https://example.org"),
        ("password", "127.0.0.1:{port}", "https://example.org"),  # a proxy with a name of its own
    ],
    indirect=["way"],
    scope="module",
)
def test_other_names_of_a_server_are_right(way, host, origin):
    client, token = way.client()
    names = {"port": client.port, "machine": socket.gethostname()}
    host, origin = host.format(**names), origin and origin.format(**names)
    assert client.send(path=f"{client.path.rstrip('/')}/metadata", Host=host).status == 200
    assert client.connects(token, Host=host, Origin=origin)


@pytest.mark.parametrize("way", ["alone", "token"], indirect=True, scope="module")
def test_a_page_can_be_opened_by_an_address_of_ipv6(way):
    client, _ = way.client()
    host = f"[::1]:{client.port}"
    page = client.send(Host=host)
    assert page.status == 200
    assert client.connects(page.token(), Host=host, Origin=f"http://{host}")


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


# ---- attacks: by someone who has entered as they should, unless an attack says otherwise


def foreign_origin(client, token):
    return client.send(Origin=EVIL), client.connects(token, Origin=EVIL)


def foreign_origin_on_this_machine(client, token):
    origin = f"http://localhost:{client.port + 1}"
    return client.send(Origin=origin), client.connects(token, Origin=origin)


def no_origin_at_all(client, token):
    return client.send(Origin="null"), client.connects(token, Origin="null")


def no_host(client, token):
    return client.send(Host=None), False


def foreign_host(client, token):
    return client.send(Host="evil.example"), client.connects(token, Host="evil.example")


def foreign_host_with_the_same_origin(client, token):
    host = f"evil.example:{client.port}"
    names = {"Host": host, "Origin": f"http://{host}"}
    return client.send(**names), client.connects(token, **names)


def foreign_host_behind_a_proxy(client, token):
    names = {"Host": "evil.example", "Origin": EVIL, "X_Forwarded_Host": client.host}
    return client.send(**names), client.connects(
        token, **{**names, "X-Forwarded-Host": client.host}
    )


def token_without_signature(client, token):
    return None, client.connects(hand_made("abc"), Origin=f"http://{client.host}")


def token_with_a_wrong_signature(client, token):
    signature = token.partition(".")[2]
    return None, client.connects(hand_made(get_session_id(token), signature))


def token_with_a_key_of_ones_own(client, token):
    key = {"secret_key": b"mine", "signed": True}
    return None, client.connects(generate_jwt_token(generate_session_id(**key), **key))


def token_for_a_known_session(client, token):
    return None, client.connects(hand_made(get_session_id(token)))


def chosen_session(client, token):
    return client.send(query="bokeh-session-id=fixed123"), False


def chosen_session_in_other_letters(client, token):
    return client.send(query="%62okeh-session-id=fixed123"), False


def chosen_session_in_a_header(client, token):
    return client.send(Bokeh_Session_Id="fixed123"), False


def chosen_session_in_the_body(client, token):
    return client.send(body="bokeh-session-id=fixed123"), False


def session_of_another(client, token):
    return client.send(query=f"bokeh-session-id={get_session_id(token)}"), False


def session_of_another_in_a_header(client, token):
    return client.send(Bokeh_Session_Id=get_session_id(token)), False


def session_of_another_in_the_body(client, token):
    return client.send(body=f"bokeh-session-id={get_session_id(token)}"), False


def token_of_another_in_the_address(client, token):
    return client.send(query=f"bokeh-token={token}"), False


def scripts_from_elsewhere(client, token):
    return client.send(query="bokeh-absolute-url=https://evil.example/x"), False


def script_for_another_page(client, token):
    parts = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}
    return client.send(path=f"{client.path.rstrip('/')}/metadata", **parts), False


def method_of_a_preflight(client, token):
    return client.send(method="OPTIONS", path=f"{client.path.rstrip('/')}/autoload.js"), False


NAMES = (
    foreign_host,
    foreign_host_with_the_same_origin,
    foreign_host_behind_a_proxy,
)
TOKENS = (
    token_without_signature,
    token_with_a_wrong_signature,
    token_with_a_key_of_ones_own,
    token_for_a_known_session,
)
SESSIONS = (
    chosen_session,
    chosen_session_in_other_letters,
    chosen_session_in_a_header,
)
ATTACKS = (
    *(foreign_origin, foreign_origin_on_this_machine, no_origin_at_all, *NAMES, *TOKENS, *SESSIONS),
    *(chosen_session_in_the_body, session_of_another, session_of_another_in_a_header),
    *(session_of_another_in_the_body, token_of_another_in_the_address, scripts_from_elsewhere),
    *(script_for_another_page, method_of_a_preflight, no_host),
)


@pytest.mark.parametrize("attack", ATTACKS)
@of_ways(*OURS)
def test_attacks_are_refused(way, attack):
    answer, let_in = attack(*way.client())
    if answer is not None:
        assert answer.status == (400 if attack is no_host else 403)
        assert "Bokeh" not in answer.text
    assert not let_in


@pytest.mark.parametrize(
    "attack", [foreign_host_with_the_same_origin, *SESSIONS, scripts_from_elsewhere]
)
@of_ways("panel")
def test_the_page_refuses_attacks_on_panels_server(way, attack):
    client, token = way.client()
    page, _ = attack(client, token)
    assert page.status == 200
    assert "evil" not in page.text
    document = client.document(page.token())
    assert re.search(r"This (server does not answer|page chooses sessions itself)", document)
    assert SEEN["panel"] not in document


@of_ways("panel")
def test_the_page_refuses_a_foreign_host_that_comes_with_a_token_made_by_hand(way):
    client, _ = way.client()
    token = hand_made("abc", headers={"Host": client.host}, cookies={}, arguments={})
    document = client.document(token, Host="evil.example", Origin=EVIL)
    assert "does not answer to the name" in document
    assert SEEN["panel"] not in document


@pytest.mark.parametrize("attack", [foreign_origin, *TOKENS, *SESSIONS])
@of_ways("signed panel")
def test_panels_server_with_signed_sessions_takes_none_that_are_made_by_hand(way, attack):
    answer, let_in = attack(*way.client())
    assert answer is None or attack is foreign_origin or answer.status == 403
    assert not let_in


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
    send = (
        {"method": "POST", "body": f"word={PASSWORD}"} if way.password else {"query": client.query}
    )
    if way.password:
        send["body"] = "word=correct+horse+%E2%98%83"
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


@pytest.mark.parametrize(
    ("name", "prefix", "key", "taken"),
    [
        ("kdegraph-1", "/one", b"key", True),
        ("kdegraph-2", "/one", b"key", False),
        ("kdegraph-1", "/two", b"key", False),
        ("kdegraph-1", "/one", b"other", False),
    ],
)
def test_a_cookie_counts_for_one_server_one_path_and_one_password(name, prefix, key, taken):
    given = []
    handler = SimpleNamespace(
        set_cookie=lambda name, value, **flags: given.append(value),
        request=SimpleNamespace(headers={}),
    )
    Cookie("kdegraph-1", "/one", b"key").give(handler)
    request = SimpleNamespace(cookies=SimpleCookie({name: given[0].decode()}))
    assert Cookie(name, prefix, key).is_in(request) == taken
    assert not Cookie(name, prefix, key).is_in(SimpleNamespace(cookies=SimpleCookie()))


def test_neither_cookies_nor_headers_stand_in_the_page(ways):
    client, _ = ways("password").client()
    answer = client.send(X_Secret="a secret")
    payload = get_token_payload(answer.token())
    assert client.cookie.partition("=")[2] not in str(payload)
    assert "a secret" not in str(payload)
    assert not payload["headers"]
    assert not payload["cookies"]


def test_after_some_wrong_passwords_each_further_one_has_to_wait_longer():
    now = [0.0]
    guesses = Guesses(clock=lambda: now[0])
    waits = []
    for _ in range(30):
        waits.append(guesses.wait())
        now[0] += waits[-1]
        guesses.count(right=False)
    assert waits[:5] == [0] * 5
    assert waits[5:13] == [1, 2, 4, 8, 16, 32, 64, 64]
    assert guesses.wait() == 64
    now[0] += 63.5
    assert guesses.wait() == 0.5
    now[0] += 1000
    assert guesses.wait() == 0
    guesses.count(right=True)
    guesses.count(right=False)
    assert guesses.wait() == 0


def test_while_one_has_to_wait_not_even_the_right_password_is_looked_at():
    access = Access(b"secret", password=PASSWORD)
    assert access.refusal(PASSWORD) is None
    for _ in range(5):
        assert access.refusal("wrong") == (403, "This is not the password.")
    for word in ("wrong", PASSWORD):
        status, words = access.refusal(word)
        assert status == 429
        assert re.search(r"wait \d+ s before", words)


def test_keys_differ_by_purpose_by_word_and_by_secret():
    accesses = [
        Access(b"secret"),
        Access(b"secret", password="x"),
        Access(b"secret", password="y"),
        Access(b"other", password="x"),
        *(Access(b"secret", token=True) for _ in range(2)),
    ]
    keys = {access.key(purpose) for access in accesses for purpose in ("cookie", "sessions")}
    assert len(keys) == 12
    assert Access(b"secret", password="x").key("cookie") == accesses[1].key("cookie")


def test_the_address_with_which_a_browser_is_opened_lets_in_one():
    access = Access(token=True)
    assert access.invitation("http://a/") == f"http://a/?token={access.token}"
    once = access.invitation("http://a/", once=True).partition("?token=")[2]
    assert once != access.token
    assert access.refusal(once) is None
    assert access.refusal(once) == (403, "This is not the token.")
    assert access.refusal(access.token) is None
    assert access.refusal(access.token) is None
    assert Access(password="x").invitation("http://a/", once=True) == "http://a/"


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (b"secret\n", 0o600, None),
        ("a ☃ with spaces".encode(), 0o400, None),
        (b"secret\n", 0o640, "other users can read"),
        (b"secret\n", 0o602, "other users can read"),
        (b"", 0o600, "must hold the password as its only line"),
        (b"\n", 0o600, "must hold"),
        (b" \n", 0o600, "must hold"),
        (b"one\ntwo\n", 0o600, "must hold"),
        (b"\xff\xfe", 0o600, "must hold"),
    ],
)
def test_the_file_of_a_password_is_checked(tmp_path, content, mode, said):
    path = tmp_path / "password.txt"
    path.write_bytes(content)
    path.chmod(mode)
    if said is None:
        assert read_password(path) == content.decode().rstrip("\n")
    else:
        with pytest.raises(ValueError, match=rf"--password-file: .*{said}"):
            read_password(path)


def test_large_bodies_are_not_read(ways):
    client = Client(ways("alone").address)
    assert client.send(method="POST", body="x", Content_Length="100000").status == 400
