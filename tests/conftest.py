"""What all tests share."""

from hypothesis import settings

# The same examples in every run: a failure is a change in the code, not bad luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser):
    parser.addoption("--update-screenshots", action="store_true", help="write what the browser shows as the new baselines")
