"""The explorer behind a real nginx, as docs/serving.md configures it: with TLS, a path and a
password; and what asks for tokens and passwords.
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attacks import Client, hand_made
from browser import axe
from browser.conftest import ROOT, free_port
from browser.explorer_page import ExplorerPage
from browser.saving import save
from browser.test_connection import UNREACHABLE, end
from explorer_actions import TABLE

NGINX = shutil.which("nginx", path=os.pathsep.join([
    str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin"
]))  # fmt: skip
NAME = "explorer.localhost"  # which browsers find on this machine
PASSWORD = "four words are enough ☃"
ENTRANCE = ("status 403", "403 (Forbidden)")  # the status of the page that asks
PROXY_ALONE = ("status 502", "502 (Bad Gateway)", "net::ERR_")
MAIN = """
daemon off;
master_process off;
pid {folder}/pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {documented}
}}
"""
HERE = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-days", "2"]


@pytest.fixture
def password_file(tmp_path):
    path = tmp_path / "password.txt"
    path.touch(mode=0o600)
    path.write_text(f"{PASSWORD}\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def nginx(tmp_path, server):
    """Address of the explorer in an nginx that runs as the documentation says."""
    if NGINX is None or shutil.which("openssl") is None:
        pytest.skip("there is no nginx, or no openssl to make a certificate")
    folder, port = tmp_path / "nginx", free_port()
    folder.mkdir()
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *HERE]
    made += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    documented = re.search(r"```nginx\n(.*?)```", text, re.DOTALL)[1]
    for here, there in {
        "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
        "server_name example.org;": f"server_name {NAME};",
        "/etc/ssl/example.org.pem": str(certificate),
        "/etc/ssl/example.org.key": str(key),
        "http://127.0.0.1:5006;": f"http://127.0.0.1:{server.port};",
    }.items():
        assert documented.count(here) == 1
        documented = documented.replace(here, there)
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder, documented=documented))
    log = folder / "log.txt"
    command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(log)]
    process = subprocess.Popen(command)
    yield f"https://{NAME}:{port}"
    process.terminate()
    process.wait(20)
    assert "[emerg]" not in log.read_text()


def enter(page, password=PASSWORD):
    """Fill in the form of the page that asks."""
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Open").click()


def test_the_documented_nginx_with_a_path_tls_and_a_password(
    nginx, server, password_file, new_page, tmp_path
):
    options = ["--prefix", "/kdegraph", "--allow-origin", nginx, "--password-file", password_file]
    process = server(*options, path="kdegraph/")
    ignored = (*ENTRANCE, *PROXY_ALONE)
    page = new_page(ignore=ignored, ignore_https_errors=True)
    page.goto(f"{nginx}/kdegraph?source=generators")
    page.wait_for_url(f"{nginx}/kdegraph/")
    page.goto(f"{nginx}/kdegraph/?source=generators")
    enter(page, "wrong")
    page.get_by_role("alert").filter(has_text="This is not the password.").wait_for()
    enter(page)
    explorer = ExplorerPage(page)
    explorer.expect_status("2,000 points")
    assert page.url == f"{nginx}/kdegraph/?source=generators"
    (cookie,) = page.context.cookies()
    assert (cookie["path"], cookie["secure"]) == ("/kdegraph", True)
    assert page.evaluate("document.cookie") == ""
    # Choices, the address, and the way back.
    explorer.change(lambda: explorer.set_slider("Clusters k", 1))
    page.wait_for_url("**/kdegraph/?*n_clusters=3*")
    explorer.change(page.go_back)
    assert "2 clusters (automatic" in explorer.status()
    explorer.change(page.go_forward)
    # The login outlives the server.
    end(process)
    banner = page.get_by_role("alert").filter(has_text="has lost its server")
    banner.wait_for()
    server(*options, path="kdegraph/")
    banner.wait_for(state="detached")
    explorer.expect_status(", 3 clusters")
    # Files in both directions.
    (tmp_path / "animals.csv").write_bytes(TABLE)
    explorer.choose_source("File")
    explorer.upload(tmp_path / "animals.csv")
    explorer.expect_status("animals.csv: 40 points")
    save(explorer, "Session file").save_as(tmp_path / "session.json")
    assert "animals.csv" in (tmp_path / "session.json").read_text()
    with ThreadPoolExecutor(1) as pool:  # as Playwright runs an event loop in this thread
        pool.submit(check_attacks, nginx).result()


def check_attacks(nginx):
    """Attack the server behind nginx, as someone who has entered."""
    client = Client(f"{nginx}/kdegraph/", machine="127.0.0.1")
    assert client.send().status == 403
    token = client.enter(PASSWORD).token()
    assert client.connects(token, Origin=nginx)
    evil = {"Host": "evil.example", "Origin": "https://evil.example"}
    port = evil["Host"] + f":{client.port}"
    for names in (
        {"Origin": "https://evil.example"},
        {"Origin": nginx.replace("https", "http")},
        evil,
        {"Host": port, "Origin": f"https://{port}"},
        {**evil, "X-Forwarded-Host": client.host, "X-Forwarded-Proto": "https"},
    ):
        assert not client.connects(token, **names)
        assert client.send(**names).status == 403
    assert not client.connects(hand_made("abc"), Origin=nginx)
    assert client.send(query="bokeh-session-id=fixed123").status == 403
    assert not client.connects(token, Origin=nginx, Cookie=None)


def test_a_new_token_is_asked_for_when_the_server_has_another_one(
    server, new_page, screenshot, subtests
):
    process = server("--token")
    (token,) = re.findall(r"\?token=(\S+)", server.log.read_text())
    page = new_page(ignore=(*ENTRANCE, *UNREACHABLE))
    explorer = ExplorerPage(page).open(f"{server.address}?token={token}&source=generators")
    assert page.url == f"{server.address}?source=generators"
    end(process)
    page.get_by_role("alert").filter(has_text="has lost its server").wait_for()
    server("--token")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Open").click()
    page.get_by_role("alert").filter(has_text="This is not the token.").wait_for()
    check_looks(page, screenshot, subtests)
    page.get_by_label("Token").fill(re.findall(r"\?token=(\S+)", server.log.read_text())[-1])
    page.keyboard.press("Enter")
    explorer.expect_status("2,000 points")
    assert page.url == f"{server.address}?source=generators"


def check_looks(page, screenshot, subtests):
    """Compare the page that asks with screenshots, and check it by axe-core."""
    axe.load(page)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        with subtests.test(theme):
            screenshot(page, f"token-{theme}")
        with subtests.test(f"axe {theme}"):
            assert axe.serious(page.locator("html")) == []
    page.set_viewport_size({"width": 320, "height": 480})
    with subtests.test("narrow"):
        screenshot(page, "token-narrow")
