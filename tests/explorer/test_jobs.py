"""Jobs of the explorer: the newest request wins, stale work is stopped or dropped, nothing is
delivered off the session's thread.
"""

import asyncio
import threading
import time
from contextlib import nullcontext

import pytest
from explorer_actions import until
from kdegraph import Cancelled
from kdegraph_explorer.jobs import Latest, Mailbox

PATIENCE = 20  # seconds


class Recorder:
    """Work that goes on until it is released, and what was delivered of it."""

    def __init__(self, grace=100.0):
        self.started, self.stopped, self.delivered, self.failed, self.reports = [], [], [], [], []
        self.release = threading.Event()
        self.threads = set()
        self.mailbox = Mailbox()
        self.job = Latest(
            self.work,
            mailbox=self.mailbox,
            deliver=self.deliver,
            fail=lambda *args: self.failed.append(args),
            report=self.report,
            grace=grace,
        )

    def work(self, request, progress, publish):
        self.started.append(request)
        self.release.wait(PATIENCE) if request == "held" else None
        while request == "endless":
            try:
                progress("endless", 0.5)
            except Cancelled:
                self.stopped.append(request)
                raise
            time.sleep(0.001)
        if request == "wrong":
            raise ValueError("wrong request")
        progress("end", 1.0)
        if request == "two parts":
            publish("first part")
        return f"result of {request}"

    def deliver(self, request, result):
        self.threads.add(threading.current_thread())
        self.delivered.append((request, result))

    def report(self, stage, fraction):
        self.reports.append((stage, fraction))


def test_result_is_delivered_on_the_thread_that_waits():
    recorder = Recorder()
    recorder.job.request("a")
    recorder.job.wait(PATIENCE)
    assert recorder.delivered == [("a", "result of a")]
    assert recorder.threads == {threading.current_thread()}
    assert not recorder.job.busy
    recorder.job.request("two parts")
    recorder.job.wait(PATIENCE)
    assert [result for _, result in recorder.delivered[1:]] == ["first part", "result of two parts"]


def test_of_many_requests_the_newest_is_last_and_those_between_are_skipped():
    recorder = Recorder()
    recorder.job.request("held")
    until(recorder, lambda: recorder.started)
    for request in range(50):
        recorder.job.request(request)
    recorder.release.set()
    recorder.job.wait(PATIENCE)
    assert recorder.started == ["held", 49]
    assert recorder.delivered == [("held", "result of held"), (49, "result of 49")]


@pytest.mark.parametrize(("grace", "options"), [(0.0, {}), (100.0, {"replace": True})])
def test_stale_work_is_stopped_after_its_grace_or_when_it_is_replaced(grace, options):
    recorder = Recorder(grace)
    recorder.job.request("endless")
    until(recorder, lambda: recorder.started)
    recorder.job.request("b", **options)
    recorder.job.wait(PATIENCE)
    assert recorder.stopped == ["endless"]
    assert recorder.delivered == [("b", "result of b")]


def test_cancelled_work_delivers_nothing_and_the_next_request_runs():
    recorder = Recorder()
    recorder.job.request("endless")
    until(recorder, lambda: recorder.started)
    recorder.job.request("waiting")
    recorder.job.cancel()
    recorder.job.wait(PATIENCE)
    assert recorder.started == ["endless"]
    assert recorder.delivered == []
    assert recorder.failed == []
    recorder.job.request("b")
    recorder.job.wait(PATIENCE)
    assert recorder.delivered == [("b", "result of b")]


def test_what_was_posted_before_cancelling_is_dropped():
    recorder = Recorder()
    recorder.job.request("a")
    while recorder.job.busy:
        time.sleep(0.001)
    recorder.job.cancel()  # the result is in the mailbox already
    recorder.mailbox.drain()
    assert recorder.delivered == []


def test_failure_is_delivered_and_the_next_request_runs():
    recorder = Recorder()
    recorder.job.request("wrong")
    recorder.job.wait(PATIENCE)
    ((request, error),) = recorder.failed
    assert request == "wrong"
    assert str(error) == "wrong request"
    recorder.job.request("b")
    recorder.job.wait(PATIENCE)
    assert recorder.delivered == [("b", "result of b")]


def test_progress_is_reported_while_work_goes_on_and_its_end_too():
    recorder = Recorder()
    recorder.job.request("endless")
    until(recorder, lambda: recorder.reports)
    assert recorder.reports[0] == ("endless", 0.5)
    recorder.job.cancel()
    until(recorder, lambda: recorder.reports[-1] == (None, 1.0))
    assert not recorder.job.busy


def test_waiting_has_an_end_and_a_closed_job_takes_no_requests():
    recorder = Recorder()
    recorder.job.request("endless")
    with pytest.raises(TimeoutError, match=r"0\.05 seconds"):
        recorder.job.wait(0.05)
    recorder.job.close()
    recorder.job.wait(PATIENCE)
    recorder.job.request("a")
    assert not recorder.job.busy
    assert recorder.started == ["endless"]


def test_on_an_event_loop_nobody_has_to_drain():
    async def session():
        recorder = Recorder()
        recorder.job.request("a")
        end = time.monotonic() + PATIENCE
        while not recorder.delivered:
            assert time.monotonic() < end, "nothing was delivered"
            await asyncio.sleep(0.001)
        return recorder

    recorder = asyncio.run(session())
    assert recorder.delivered == [("a", "result of a")]
    assert recorder.threads == {threading.current_thread()}


class Served:
    """A document on a server, which notes the threads that add callbacks, and runs these soon."""

    session_context = True

    def __init__(self):
        self.threads = []

    def add_next_tick_callback(self, callback):
        self.threads.append(threading.current_thread())
        asyncio.get_running_loop().call_soon(callback)


@pytest.fixture
def served(monkeypatch):
    """A document on a server that takes changes as they come."""
    monkeypatch.setattr(Mailbox, "held", lambda mailbox: nullcontext())
    return Served()


def test_only_the_thread_of_the_event_loop_touches_the_document(served):
    async def session():
        arrived, mailbox = asyncio.Event(), Mailbox(document=lambda: served)
        await asyncio.to_thread(mailbox.post, arrived.set)
        await asyncio.wait_for(arrived.wait(), PATIENCE)

    asyncio.run(session())
    assert served.threads == [threading.current_thread()]


def test_what_is_posted_in_a_pause_runs_after_it(served):
    async def session():
        ran, mailbox = [], Mailbox(document=lambda: served)
        mailbox.pause()
        for number in range(3):
            await asyncio.to_thread(mailbox.post, lambda number=number: ran.append(number))
        await turns()
        assert ran == []
        mailbox.resume()
        await turns()
        assert ran == [0, 1, 2]

    asyncio.run(session())


def test_nothing_touches_the_document_when_the_event_loop_has_ended(served):
    async def session():
        return Mailbox(document=lambda: served)

    asyncio.run(session()).post(lambda: None)
    assert served.threads == []


async def turns():
    """Give the event loop all turns that it needs for what was posted."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_who_waits_for_work_gets_its_result_in_a_pause():
    recorder = Recorder()
    recorder.mailbox.pause()
    recorder.job.request(1)
    recorder.job.wait(PATIENCE)
    assert recorder.delivered == [(1, "result of 1")]


def test_a_session_that_is_older_than_its_server_gets_its_results(served):
    mailbox = Mailbox(document=lambda: served)  # without an event loop

    async def serve():
        arrived = asyncio.Event()
        mailbox.post(arrived.set)
        await asyncio.wait_for(arrived.wait(), PATIENCE)

    asyncio.run(serve())
