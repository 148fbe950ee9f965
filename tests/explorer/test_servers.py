"""Connections to a server of pages that stand still come to an end."""

import asyncio
import logging
import re
import socket
import threading
import time
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from types import SimpleNamespace
from unittest import mock
from urllib.parse import urlsplit

import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import Column
from bokeh.server.connection import ServerConnection
from bokeh.util.token import get_session_id
from explorer_actions import PATIENCE
from explorer_servers import Served
from kdegraph_explorer.app import create_app
from kdegraph_explorer.patches.bokeh import application_of, counted_once
from kdegraph_explorer.serving import servers, spare
from kdegraph_explorer.serving.access import Access
from kdegraph_explorer.serving.log import is_of_client
from kdegraph_explorer.serving.page import ServedPage
from kdegraph_explorer.serving.servers import LOCAL
from panel.io import document as messages
from tornado.websocket import WebSocketClosedError

SOON = 0.5  # seconds
CLOSE = b"\x88"  # begins the last frame of a websocket; after it tornado waits for five seconds
HEAD = "Host: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n"
REQUESTS = (  # that never come to an end, but for the last one, after which nothing comes
    "",
    "GET / HTTP/1.1\r\n" + HEAD,
    "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n" + HEAD,
    "POST / HTTP/1.1\r\nContent-Length: 1000\r\n" + HEAD + "\r\nabc",
    "GET /favicon.ico HTTP/1.1\r\n" + HEAD + "\r\n",
)


@contextmanager
def serving(page=pn.Column, prepare=lambda server: None, **options):
    """The port of a server in a thread of this process, whose limits are short."""
    ready, found = threading.Event(), {}

    def run():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        server = servers.server_of(lambda: page(), Access(), address=LOCAL, port=0, **options)
        prepare(server)
        server.start()
        found.update(loop=loop, server=server)
        ready.set()
        loop.run_forever()
        server.stop()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(servers, "REQUEST_LIMIT", SOON)
        monkeypatch.setattr(servers, "PING_EVERY", SOON)
        monkeypatch.setattr(spare, "QUIET", SOON)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        assert ready.wait(PATIENCE)
        try:
            yield found["server"].port
        finally:  # as Bokeh has one present document for all threads
            found["loop"].call_soon_threadsafe(found["loop"].stop)
            thread.join(PATIENCE)


@pytest.fixture(scope="module")
def port():
    """The port of a server without a session that is ready."""
    with serving() as port:
        yield port


@contextmanager
def connection(port, text):
    """A connection that has sent a text and does no more."""
    with socket.create_connection((LOCAL, port), timeout=PATIENCE) as client:
        client.sendall(text.format(port=port).encode())
        yield client


def read_to_the_end(client):
    """All that arrives until the server closes the connection; fails if that does not happen."""
    received = b""
    while part := client.recv(2**16):
        received += part
    return received


def read_until(client, text):
    """All that arrives up to a text."""
    received = b""
    while text not in received:
        part = client.recv(2**16)
        assert part, received
        received += part
    return received


def load(port, path=""):
    """The token of a page that is loaded, which names its session."""
    with urllib.request.urlopen(f"http://localhost:{port}{path}", timeout=PATIENCE) as answer:
        (token,) = set(re.findall(r'"token":"([^"]+)"', answer.read().decode()))
    return token


def handshake(port, path=""):
    """The handshake of a page that has been loaded, and whose session exists."""
    return handshake_of(load(port, path), path)


def handshake_of(token, path=""):
    lines = (
        f"GET {path}/ws HTTP/1.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        f"Sec-WebSocket-Protocol: bokeh, {token}",
    )
    return "\r\n".join(lines) + "\r\n" + HEAD + "\r\n"


def test_half_open_connections_end(port):
    for text in REQUESTS:
        with connection(port, text) as client:
            assert (b"200 OK" in read_to_the_end(client)) == ("favicon" in text)


def test_a_page_that_has_vanished_ends(port):
    with connection(port, handshake(port)) as client:
        received = read_to_the_end(client)
    assert b"101 Switching Protocols" in received
    assert b'"ACK"' in received
    assert received.count(b"\x89\x00") == 1  # A ping, which this client does not answer.


def test_a_page_that_answers_stays(port):
    pong = b"\x8a\x80\x00\x00\x00\x00"
    with connection(port, handshake(port)) as client:
        received = b""
        for n_pings in range(1, 6):
            while received.count(b"\x89\x00") < n_pings:
                part = client.recv(2**16)
                assert part, f"the connection has ended after {n_pings - 1} pings"
                received += part
            client.sendall(pong)


def test_a_large_request_is_refused_before_it_has_arrived(port):
    text = f"POST / HTTP/1.1\r\nContent-Length: {servers.MAX_BODY + 1}\r\n" + HEAD + "\r\n"
    with connection(port, text) as client:
        assert b" 400 " in read_to_the_end(client)


def test_a_session_is_ready_for_the_next_page_without_choices():
    """It stays until then, and its page can connect."""
    made = threading.Semaphore(0)

    def page():
        made.release()
        return pn.Column()

    def next_is_made(timeout=PATIENCE):
        return made.acquire(timeout=timeout)

    limits = {"unused_session_lifetime_milliseconds": 4000 * SOON, "prefix": "/kdegraph"}
    with serving(
        page,
        lambda server: spare.keep_spare(application_of(server)),
        check_unused_sessions_milliseconds=100,
        **limits,
    ) as port:
        assert next_is_made()
        time.sleep(6 * SOON)  # unused sessions end meanwhile
        tokens = [load(port, "/kdegraph/")]
        assert not made.acquire(blocking=False)
        with connection(port, handshake_of(tokens[0], "/kdegraph")) as client:
            read_until(client, b'"ACK"')
        assert next_is_made()
        tokens.append(load(port, "/kdegraph/?data.n=50"))
        assert next_is_made()  # for this page
        tokens += [load(port, "/kdegraph/"), load(port, "/kdegraph/")]
        assert next_is_made()  # for the second one
    assert len(set(map(get_session_id, tokens))) == len(tokens)


PULL = ('{"msgid": "1", "msgtype": "PULL-DOC-REQ"}', "{}", "{}")  # asks for a page's document


@contextmanager
def serving_the_explorer():
    """The port of a server of the explorer that keeps a page ready."""
    with serving(
        lambda: create_app(checked=True),
        lambda server: spare.keep_spare(application_of(server)),
    ) as port:
        yield port


def test_a_page_that_is_ready_has_its_result_and_gets_no_other_while_it_is_built():
    earlier = set(ServedPage.made)  # pages of other tests
    with serving_the_explorer() as port:
        wait_until(lambda: any(has_result(ServedPage.made[name]) for name in made_since(earlier)))
        token = load(port, "/")
        page, posted = ServedPage.made[get_session_id(token)], threading.Event()
        assert has_result(page)
        with connection(port, handshake_of(token)) as client:
            read_until(client, b'"ACK"')
            page.session.mailbox.post(posted.set)
            client.sendall(b"".join(map(frame, PULL)))
            read_until(client, b"2,000 points in 2 dimensions, 2 clusters")
            assert not posted.is_set()


def made_since(earlier):
    return set(ServedPage.made) - earlier


def has_result(page):
    state = page.session.state
    return state.dataset is not None and state.has_all(state.request())


def wait_until(true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("name", ["points", "points_in_all"])
def test_where_points_are_limited_a_page_that_is_ready_takes_none(name, limit, monkeypatch):
    limit(**{name: 1000})
    begin, pages = ServedPage.begin_ahead, []
    monkeypatch.setattr(ServedPage, "begin_ahead", lambda page: pages.append((page, begin(page))))
    with serving_the_explorer():
        wait_until(lambda: pages)
        assert not any(job.busy for job in pages[0][0].session.jobs)


def test_a_page_that_is_being_built_is_not_begun_ahead():
    with serving_the_explorer() as port:
        page = ServedPage.made[get_session_id(load(port, "/?data.n=50"))]
        page.expect()
        page.begin_ahead()
        assert not any(job.busy for job in page.session.jobs)


def test_new_models_are_counted_at_the_end_also_after_an_error():
    document, shown, unseen = Document(), Column(), Column()
    document.add_root(shown)
    with suppress(ZeroDivisionError), counted_once([shown, unseen]):
        shown.children = [Column()]
        assert shown.children[0].document is None
        raise ZeroDivisionError
    for _ in range(2):
        assert shown.children[0].document is document
        shown.children = [Column()]


def test_a_message_that_comes_while_another_is_sent_is_sent_in_its_turn(monkeypatch):
    sent, arrived = [], []
    connection = mock.Mock(_socket=SimpleNamespace())
    connection.protocol.create = lambda kind, events: events

    def write(connection, msg):
        sent.append(msg)
        arrived.append(asyncio.get_running_loop().create_future())
        return arrived[-1:]

    async def send():
        page = Document()
        messages.schedule_write_events(page, [connection], ["a"])
        await asyncio.sleep(0)
        assert sent == [["a"]]
        arrived[0].set_result(None)  # the first one ends before the second has its turn
        messages.schedule_write_events(page, [connection], ["b"])
        while len(asyncio.all_tasks()) > 1 and len(arrived) < 2:
            await asyncio.sleep(0)
        assert sent == [["a"], ["b"]]

    monkeypatch.setitem(messages.extra_socket_handlers, SimpleNamespace, write)
    asyncio.run(send())


@pytest.mark.usefixtures("port")
@pytest.mark.parametrize("level", [logging.INFO, logging.WARNING])
def test_a_message_of_a_closed_page_is_a_line_of_the_log_and_no_error(caplog, level):
    caplog.set_level(level)
    caplog.set_level(level, "asyncio")
    loop = asyncio.new_event_loop()
    unread = ServerConnection(None, None, None, mock.Mock())
    unread.detach_session()
    with pytest.raises(AssertionError) as left:
        unread.session  # noqa: B018 (as Bokeh does for a message of a page that has gone)
    of_bokeh = left.value.with_traceback(left.value.__traceback__.tb_next)
    for error in (WebSocketClosedError(), of_bokeh, AssertionError("of ours")):
        loop.call_exception_handler({"message": "never retrieved", "exception": error})
    loop.close()
    *gone, fault = caplog.records
    assert (fault.levelno, bool(fault.exc_info)) == (logging.ERROR, True)
    found = [(record.levelno, record.exc_info, record.getMessage()) for record in gone]
    line = (logging.INFO, None, "a page has gone while a message was on its way to it, or from it")
    assert found == ([line, line] if level == logging.INFO else [])


MESSAGES = {  # that no page sends, by a part of what is logged
    "KeyError('NONSENSE')": ('{"msgid": "1", "msgtype": "NONSENSE"}', "{}", "{}"),
    "KeyError('msgid')": ('{"msgtype": "PATCH-DOC"}', "{}", "{}"),
    "list indices must be integers": ('{"msgid": "1", "msgtype": "PATCH-DOC"}', "{}", "[]"),
    "can't resolve reference 'p1'": (
        '{"msgid": "1", "msgtype": "PATCH-DOC"}',
        "{}",
        '{"events": [{"kind": "ModelChanged", "model": {"id": "p1"}, "attr": "x", "new": 1}]}',
    ),
    "KeyError('events')": ('{"msgid": "1", "msgtype": "PUSH-DOC"}', "{}", '{"doc": {}}'),
}


def frame(text):
    """A frame of a websocket with a short text."""
    return bytes([0x81, 0x80 | len(text)]) + bytes(4) + text.encode()


def test_messages_that_cannot_be_read_are_logged_in_a_line_each(port, caplog):
    caplog.set_level(logging.WARNING, "bokeh")  # which importing Dask's scheduler raises
    pages = [handshake(port) for _ in MESSAGES]  # the server is busy until all of them are made
    with ExitStack() as stack:
        clients = [stack.enter_context(connection(port, page)) for page in pages]
        for client, message in zip(clients, MESSAGES.values(), strict=True):
            read_until(client, b'"ACK"')
            client.sendall(b"".join(map(frame, message)))
        for client in clients:
            read_until(client, CLOSE)  # as nothing answers to its pings
    logged = [record for record in caplog.records if "cannot be read" in record.getMessage()]
    assert all(any(said in one.getMessage() for one in logged) for said in MESSAGES)
    assert not [record for record in caplog.records if record.exc_info]
    assert max(record.levelno for record in logged) == logging.WARNING


def test_a_page_of_another_server_is_refused_before_it_connects(port, caplog):
    tokens = ("", "junk", "W10", "eyJhIjoxfQ.x", "eyJzZXNzaW9uX2lkIjoiYSJ9")
    texts = [handshake_of(token) for token in tokens]
    for request in (*texts, texts[0].replace("Sec-WebSocket-Protocol", "X-Other")):
        with connection(port, request.replace("Origin", "Connection: close\r\nOrigin")) as client:
            assert b" 403 " in read_to_the_end(client)
    assert not [record for record in caplog.records if record.exc_info]


def test_a_fault_of_the_program_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError) as caught:
        asyncio.run(asyncio.wait_for(fail(), 1))
    assert not is_of_client(caught.value)


async def fail():
    return 1 / 0


def test_panel_serve_ends_a_page_that_has_vanished(pytestconfig, tmp_path):
    (tmp_path / "app.py").write_text(
        "import runpy, panel\n"
        "from kdegraph_explorer import app; from kdegraph_explorer.serving import servers\n"
        "app.create_app = lambda file: panel.Column()\n"
        f"servers.PING_EVERY = {SOON}\n"
        f"runpy.run_path({str(pytestconfig.rootpath / 'apps' / 'explorer.py')!r})\n"
    )
    command = "-m", "panel", "serve", str(tmp_path / "app.py"), "--port", "0"
    with Served(command, tmp_path / "log.txt") as served:
        port = urlsplit(served.address).port
        with connection(port, handshake(port, "/app")) as client:
            read_until(client, b'"ACK"')
            read_until(client, CLOSE)
