"""Hostile addresses, files and session files: what they say is shown as text, none of it runs."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from urllib.parse import quote

from browser.explorer_page import ExplorerPage
from browser.saving import open_session, picture_of, save
from hostile import MARK, N_ROWS, NAME, TEXTS, bad_cell, table

# What of a page is not text, though it should be.
FOUND = f"""() => {{
  const every = selector => look.within(document, selector)
  return {{
    ran: window.PWN !== undefined,
    elements: every(".{MARK}").map(element => element.outerHTML),
    markdown: every("strong, em, b").filter(element => element.textContent === "bold").length,
    frames: every("iframe, object, embed").length,
    links: every("a[href^='javascript:'], [href*='example.org'], [src*='example.org']").length,
    icons: every("li .material-icons, .MuiChip-root .material-icons").length,
    hidden: getComputedStyle(document.body).display === "none",
  }}
}}"""
COUNTS = dict.fromkeys(("markdown", "frames", "links", "icons"), 0)
# Several texts in one message, which has to be short.
JOINED = [
    " ".join(TEXTS[name] for name in names.split())
    for names in ("style image frame", "markdown link", "vector script", "attribute icon tex")
]
NOTHING = {"ran": False, "elements": [], "hidden": False, **COUNTS}


def check(page, *texts):
    """Nothing has run, no foreign element is there, and the texts are seen as they are written."""
    page.page.wait_for_timeout(300)  # for what comes late, such as an image that fails
    assert page.page.evaluate(FOUND) == NOTHING
    shown = page.page.evaluate("() => look.text()")
    for text in texts:
        assert text in shown, f"{text} is not in {shown}"


def session_of(page, folder):
    """The values of the session file that the page saves."""
    save(page, "Session file").save_as(folder / "session.json")
    return json.loads((folder / "session.json").read_text())


def test_addresses_that_cannot_be_restored(explorer_server, new_page, clean_log):
    page = ExplorerPage(new_page())
    for text, query in zip(JOINED[:2], ("sigma={}", "{}=1"), strict=True):
        page.page.goto(f"{explorer_server[0]}?{query.format(quote(text))}")
        page.expect_status("points in")
        said = page.error("What the address of the page asks for cannot be restored")
        assert repr(text) in said
        check(page, said)


def test_files_and_session_files(explorer, tmp_path):
    page = explorer()
    page.choose_source("File")
    (tmp_path / NAME).write_bytes(table())
    page.change(lambda: page.upload(tmp_path / NAME))
    check_names_labels_and_cells(page, tmp_path)
    check_session_files(page, tmp_path)
    check_message_about_a_cell(page, tmp_path)


def check_names_labels_and_cells(page, tmp_path):
    names = list(TEXTS.values())
    assert NAME in page.status()
    check(
        page,
        NAME,
        f"{N_ROWS} rows and {len(names)} columns of {NAME}",
        *names,
    )
    for axis, chosen in (("Horizontal axis", "tex"), ("Vertical axis", "image")):
        page.page.get_by_label(axis, exact=True).click()
        options = page.page.get_by_role("menuitem").all_inner_texts()
        first = len(options) - len(names)  # after the map, if it is ready, and two components
        assert [option.replace("\N{WORD JOINER}", "") for option in options[first:]] == names
        check(page)
        page.page.get_by_role("menuitem").nth(first + names.index(TEXTS[chosen])).click()
        page.settle()
    check(page)
    page.page.keyboard.press("t")
    page.page.locator(".kg-table:visible th", has_text="Mean").first.wait_for()
    check(page, f"Mean {TEXTS['tex']}", f"Mean {TEXTS['image']}")
    page.page.keyboard.press("t")
    picture_of(page, "KDE graph", "Save as SVG").save_as(tmp_path / "plot.svg")
    root = ElementTree.parse(tmp_path / "plot.svg").getroot()
    texts = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]
    assert TEXTS["tex"] in texts
    assert TEXTS["image"] in texts
    foreign = ("}script", "}img", "}foreignObject", "}a")
    assert not [element for element in root.iter() if element.tag.endswith(foreign)]


def check_message_about_a_cell(page, tmp_path):
    (tmp_path / ("a" + NAME)).write_bytes(bad_cell())
    page.upload(tmp_path / ("a" + NAME))
    page.page.locator(".kg-left-out .kg-message").wait_for()
    page.settle()
    check(page, "left out, see “Leave out incomplete rows”")
    page.page.get_by_label("Leave out incomplete rows").click()
    said = page.error("is not a number")
    assert repr(TEXTS["frame"]) in said
    check(page, said)


def check_session_files(page, tmp_path):
    values = session_of(page, tmp_path)
    file, text = values["data"]["file"], TEXTS["image"]
    changes = [({"choices": {"sigma": text}}, repr(text)) for text in JOINED]
    changes += [({name: text}, repr(text)) for name in ("source", "version", "choices")]
    changes += [({"choices": {text: 1}}, repr(text))]
    for changed, said in (
        ({**file, "content": text}, NAME),
        ({"name": text, "sha256": ""}, text),
        ({**file, "name": f"{text}.tex"}, f"{text}.tex"),
        ({**file, "name": f"{text}.npy"}, f"{text}.npy does not hold what its name says"),
    ):
        changes.append(({"data": {**values["data"], "file": changed}}, said))
    for changed, said in changes:
        (tmp_path / "hostile.json").write_text(json.dumps({**values, **changed}))
        open_session(page, tmp_path / "hostile.json")
        page.page.get_by_role("dialog").wait_for(state="hidden")
        check(page, page.error(said))


RUN = """texts => {
  for (const text of texts) document.body.insertAdjacentHTML("beforeend", text)
  const made = (name, values) => Object.assign(document.createElement(name), values)
  const add = (name, values) => document.body.append(made(name, values))
  add("script", {textContent: "window.PWN = 1"})
  add("script", {src: "data:text/javascript,window.PWN=1"})
  add("script", {src: URL.createObjectURL(new Blob(["window.PWN=1"], {type: "text/javascript"}))})
  add("iframe", {src: "javascript:parent.PWN=1"})
  add("object", {data: "data:text/html,<script>parent.PWN=1</script>"})
  add("base", {href: "http://example.org/"})
  setTimeout("window.PWN=1")
  setTimeout(() => { try { (0, eval)("window.PWN=1") } catch {} })
}"""
CONNECT = """url => new Promise(done => {
  const found = event => event.blockedURI.startsWith(url) && done("refused")
  document.addEventListener("securitypolicyviolation", found)
  if (url.startsWith("ws")) new WebSocket(url)
  else fetch(url).finally(() => setTimeout(() => done("tried"), 1000)).catch(() => {})
})"""


def test_command_serves_the_explorer_under_a_policy_and_in_frames(serve, new_page, tmp_path):
    command = [sys.executable, "-m", "kdegraph", "explore", "--no-browser", "--port", "{port}"]
    address, _ = serve(command)
    page, refused = new_page(ignore=["Content Security Policy"]), []
    page.on("console", lambda message: refused.append(message.text))
    with page.expect_response(address) as response:
        explorer = ExplorerPage(page).open(address)
    assert "frame-ancestors 'self'" in response.value.headers["content-security-policy"]
    assert page.locator("meta[http-equiv=Content-Security-Policy]").count() == 1
    for view in ("Rounds", "Compare", "Graphs"):
        explorer.open_view(view)
    assert not [text for text in refused if "Content Security Policy" in text]
    check_policy(page, address)
    frame = f"<iframe src='{address}' width=1200 height=700></iframe>"
    (tmp_path / "frame.html").write_text(f"<!doctype html><title>Frame</title>{frame}")
    other = [sys.executable, "-m", "http.server", "{port}", "--directory", str(tmp_path)]
    page = new_page()
    page.goto(serve(other, path="/frame.html")[0])
    page.frame_locator("iframe").locator(".kg-status").filter(has_text="points in").wait_for()


def check_policy(page, address):
    """The policy stops what gets into the page all the same."""
    page.evaluate(RUN, list(TEXTS.values()))
    page.wait_for_timeout(1000)
    found = page.evaluate(FOUND)
    assert found["elements"]  # it did get in
    assert not found["ran"]
    assert page.evaluate("document.baseURI").startswith(address)
    for url in ("http://example.org/", "ws://example.org/", "http://localhost:1/"):
        assert page.evaluate(CONNECT, url) == "refused", url
