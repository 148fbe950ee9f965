"""Passwords, tokens and the cookies of those who know them, without a server."""

import re
from http.cookies import SimpleCookie
from types import SimpleNamespace

import pytest
from kdegraph_explorer.serving.access import Access, Cookie, Guesses, read_password

PASSWORD = "correct horse ☃"


def test_a_cookie_counts_for_one_server_one_path_and_one_password():
    given = []
    handler = SimpleNamespace(
        set_cookie=lambda name, value, **flags: given.append(value),
        request=SimpleNamespace(headers={}),
    )
    Cookie("kdegraph-1", "/one", b"key").give(handler)
    for name, prefix, key in (
        ("kdegraph-1", "/one", b"key"),
        ("kdegraph-2", "/one", b"key"),
        ("kdegraph-1", "/two", b"key"),
        ("kdegraph-1", "/one", b"other"),
    ):
        request = SimpleNamespace(cookies=SimpleCookie({name: given[0].decode()}))
        taken = (name, prefix, key) == ("kdegraph-1", "/one", b"key")
        assert Cookie(name, prefix, key).is_in(request) == taken
        assert not Cookie(name, prefix, key).is_in(SimpleNamespace(cookies=SimpleCookie()))


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
