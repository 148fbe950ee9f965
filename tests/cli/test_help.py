"""Help, progress, and the start of the explorer."""

import sys
import types

import kdegraph
import pytest
from cli.results import assert_refused
from kdegraph.cli import main


@pytest.mark.parametrize("command", [[], ["cluster"], ["graph"], ["explore"], ["sample"]])
def test_help_teaches_with_examples(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert "  kdegraph " in result.stdout
    assert result.stdout == run(*command, "-h").stdout
    assert max(map(len, result.stdout.splitlines())) <= 110


def test_examples_in_the_help_are_valid_commands(run, tmp_path):
    """Every example is parsed (not run) by the command it is shown for."""
    examples = [
        (command, line.strip().split("   ")[0].split()[2:])
        for name, command in main.commands.items()
        for line in command.help.splitlines()
        if line.strip().startswith(f"kdegraph {name}")
    ]
    assert len(examples) >= 12
    for command, words in examples:
        for word in words:
            if "." in word and not word.replace(".", "").isdigit():
                (tmp_path / word).touch()
        command.make_context(command.name, words).close()


def test_version(run):
    assert run("--version").stdout == f"kdegraph {kdegraph.__version__}\n"


@pytest.fixture
def serve(monkeypatch):
    """Replace the explorer by a function that notes its arguments and raises `error`, if set."""
    app = types.ModuleType("kdegraph_explorer.app")
    calls = types.SimpleNamespace(found=[], error=None)

    def called(file, **options):
        calls.found.append((file, options))
        if calls.error is not None:
            raise calls.error

    app.serve = called
    monkeypatch.setitem(sys.modules, "kdegraph_explorer.app", app)
    monkeypatch.setitem(sys.modules, "kdegraph_explorer", types.ModuleType("kdegraph_explorer"))
    return calls


def test_explore_hands_over(run, moons, serve):
    assert run("explore").exit_code == 0
    options = ["--host", "0.0.0.0", "--port", 0, "--no-browser", "--allow-origin", "a.org"]
    options += ["--allow-origin", "https://b.org", "--password-file", moons, "--prefix", "/c"]
    assert run("explore", moons, *options).exit_code == 0
    assert run("explore", "--token").exit_code == 0
    usual = {"host": "127.0.0.1", "port": 5006, "show": True, "allow_origin": (), "token": False}
    usual |= {"password_file": None, "prefix": ""}
    given = {"host": "0.0.0.0", "port": 0, "show": False, "token": False, "prefix": "/c"}
    given |= {"allow_origin": ("a.org", "https://b.org"), "password_file": str(moons)}
    assert serve.found == [(None, usual), (str(moons), given), (None, usual | {"token": True})]


def test_ends_of_explore(run, serve):
    serve.error = KeyboardInterrupt()
    result = run("explore")
    assert (result.exit_code, result.stderr) == (0, "Stopped.\n")
    serve.error = OSError(98, "Address already in use")
    message = "cannot listen at 127.0.0.1, port 5006: Address already in use; try --port 0"
    assert_refused(run("explore"), message)


def test_explore_without_its_packages_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "kdegraph_explorer.app", None)
    assert_refused(run("explore"), 'pip install "kdegraph[explorer]"', code=1)
