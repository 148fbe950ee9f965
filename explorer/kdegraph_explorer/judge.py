"""Judges the clusters of all methods in the full graph, when nothing else is to be done."""

import time
from dataclasses import replace

import numpy as np

from .algorithm.judgement import judge
from .state import State

REST = 0.15  # seconds without a newer result after which clusters are judged


class Judge:
    """Puts a `Judgement` of each method into the state, after the result: a job of its own, which
    a new choice stops.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session):
        self._state = session.state
        self._job = session.latest(self._judge, deliver=self._take, grace=0.0)
        self._state.param.watch(self._follow, [*State.CHOICES, "result", "stage"])

    def _follow(self, *events):
        if {event.name for event in events} <= set(State.CHOICES):
            self._job.cancel()
        elif self._state.stage is None or any(event.name == "result" for event in events):
            self._request()

    def _request(self):
        state = self._state
        kde = state.outcome("kde")
        if kde is None or state.result.coarse:
            return
        new = {
            method: outcome.colors
            for method, outcome in state.result.outcomes.items()
            if state.judgement(method) is None
        }
        if new:
            self._job.request((kde, new))
        else:  # what may still be judged is an earlier result, whose choices are taken back
            self._job.cancel()

    @staticmethod
    def _judge(request, progress, publish):
        kde, new = request
        end = time.monotonic() + REST
        while time.monotonic() < end:
            progress("conductances", 0.0)
            time.sleep(REST / 10)
        found = {}
        for method, colors in new.items():
            same = next((j for j in found.values() if np.array_equal(j.colors, colors)), None)
            found[method] = (
                judge(kde.graph, colors, kde.bandwidth, progress)
                if same is None
                else replace(same, colors=colors)
            )
        return found

    def _take(self, request, found):
        self._state.judgements = {**self._state.judgements, **found}
