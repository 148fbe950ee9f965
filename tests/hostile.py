"""Text that would do something if it were HTML, Markdown, TeX or an icon; what runs sets `PWN`."""

MARK = "foreign"  # a class that no element of the page may have
TEXTS = {
    "frame": f"<iframe class={MARK} srcdoc='<script>parent.PWN=1</script>'></iframe>",
    "style": f"<style class={MARK}>*{{display:none}}</style>",
    "image": f"<img class={MARK} src=data:, onerror=window.PWN=1>",
    "vector": f"<svg class={MARK} onload=window.PWN=1><script>window.PWN=1</script></svg>",
    "script": f"<script class={MARK}>window.PWN=1</script>",
    "attribute": f"' onmouseover=window.PWN=1 x=\" onfocus=window.PWN=1 autofocus class={MARK}",
    "link": "[link](javascript:window.PWN=1) <javascript:window.PWN=1> javascript:window.PWN=1",
    "markdown": "![picture](http://example.org/x.png) **bold** <http://example.org>",
    "icon": ":material/home@color=red:",
    "tex": "$$\\href{javascript:window.PWN=1}{x}$$",
}
# As a file is called: without a slash.
NAME = f"<img class={MARK} src=data:, onerror=window.PWN=1> **bold**.csv"
N_ROWS = 40


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


def table():
    """A table of text whose names of columns, labels and cells are hostile."""
    names = [quoted(text) for text in TEXTS.values()]
    rows = [
        [*(str((i * (column + 3)) % 13) for column in range(len(names))), quoted(label)]
        for i, label in zip(range(N_ROWS), [*TEXTS.values()] * N_ROWS, strict=False)
    ]
    return "\n".join(",".join(row) for row in [[*names, "label"], *rows]).encode()


def bad_cell():
    """The same, with a row that is refused: the message quotes the cell and the column."""
    cells = [quoted(TEXTS["frame"])] * len(TEXTS)
    return table() + b"\n" + ",".join([*cells, "u"]).encode()
