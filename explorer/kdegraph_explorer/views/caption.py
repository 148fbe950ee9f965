"""The line above a plot: its title, its sentence, and a menu to save it or to read it as a table."""

import param
from panel.custom import JSComponent


class Caption(JSComponent):
    """Title and sentence of a plot or a table, with a menu where there is something to choose."""

    title = param.String()
    sentence = param.String(doc="One sentence of explanation.")
    summary = param.String(doc="What is seen, in words, for those who do not see it.")
    figure = param.String(
        doc="Name of the Bokeh figure that can be saved as a picture; empty for none."
    )
    described = param.Boolean(doc="Whether there is a table.")
    table = param.Boolean(doc="Whether the table is shown in place of the plot.")

    _esm = """
    async function save(name, type) {
      let figure = null
      for (const document of Bokeh.documents) figure ??= document.get_model_by_name(name)
      const view = figure === null ? null : Bokeh.index.find_one(figure)
      if (view === null) return
      let blob = await view.export(type, true).to_blob()
      if (type === "png") blob = await on_background(blob, background_of(view.el))
      const link = document.createElement("a")
      link.href = URL.createObjectURL(blob)
      link.download = name.toLowerCase().replace(/[^a-z0-9]+/g, "-") + "." + type
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60000)
    }

    function background_of(element) {
      for (let node = element; node; node = node.parentNode ?? node.host) {
        if (!(node instanceof Element)) continue
        const color = getComputedStyle(node).backgroundColor
        if (color !== "rgba(0, 0, 0, 0)" && color !== "transparent") return color
      }
      return "white"
    }

    async function on_background(blob, color) {
      const image = await createImageBitmap(blob)
      const canvas = new OffscreenCanvas(image.width, image.height)
      const context = canvas.getContext("2d")
      context.fillStyle = color
      context.fillRect(0, 0, canvas.width, canvas.height)
      context.drawImage(image, 0, 0)
      return canvas.convertToBlob({type: "image/png"})
    }

    export function render({model}) {
      const line = document.createElement("div")
      line.className = "line"
      const text = document.createElement("div")
      text.className = "text"
      const title = document.createElement("h2"), sentence = document.createElement("span"), summary = document.createElement("p")
      title.className = "title"
      sentence.className = "sentence"
      summary.className = "summary"
      text.append(title, " ", sentence)
      line.append(text, summary)
      const show = () => {
        title.textContent = model.title
        sentence.textContent = model.sentence
        text.title = model.sentence
        summary.textContent = model.summary
      }
      for (const name of ["title", "sentence", "summary"]) model.on(name, show)
      show()

      const items = []
      const add = (label, act) => {
        const item = document.createElement("button")
        item.textContent = label
        item.addEventListener("click", () => { menu.hidePopover(); act() })
        items.push(item)
        return item
      }
      const menu = document.createElement("div")
      if (model.described) {
        const item = add("", () => { model.table = !model.table })
        const name = () => { item.textContent = model.table ? "Show the plot" : "Show as a table" }
        model.on("table", name)
        name()
      }
      if (model.figure) {
        add("Save as PNG", () => save(model.figure, "png"))
        add("Save as SVG", () => save(model.figure, "svg"))
      }
      if (items.length) {
        const button = document.createElement("button")
        button.className = "more"
        button.textContent = "⋯"
        button.title = "Table, PNG, SVG"
        button.setAttribute("aria-label", `${model.title}: table and pictures`)
        menu.popover = "auto"
        menu.className = "menu"
        menu.append(...items)
        button.popoverTargetElement = menu
        menu.addEventListener("beforetoggle", event => {
          const {right, bottom} = button.getBoundingClientRect()
          menu.style.left = `${Math.max(4, right - 150)}px`
          menu.style.top = `${bottom + 2}px`
        })
        menu.addEventListener("toggle", event => { if (event.newState === "open") items[0].focus() })
        menu.addEventListener("keydown", event => {
          const way = {ArrowDown: 1, ArrowUp: -1}[event.key]
          if (way === undefined) return
          event.preventDefault()
          items[(items.indexOf(menu.getRootNode().activeElement) + way + items.length) % items.length].focus()
        })
        line.append(button, menu)
      }
      return line
    }
    """


STYLE = """
:host { font-size: 12.5px; line-height: 18px; }
.line { display: flex; align-items: center; gap: 4px; height: 20px; }
.text { flex: 1 1 auto; min-width: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.title { display: inline; font-size: inherit; font-weight: 600; letter-spacing: 0.01em; margin: 0; }
.sentence { opacity: 0.75; margin-left: 4px; }
.summary { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
.more { flex: none; width: 26px; height: 22px; font-size: 15px; line-height: 1; }
button { font: inherit; color: inherit; background: none; border: 0; border-radius: 6px; padding: 0 4px; cursor: pointer; }
button:hover, .menu button:focus-visible { background: rgba(128, 128, 128, 0.18); }
button:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
.menu { inset: auto; margin: 0; width: 150px; box-sizing: border-box; padding: 4px; border: 1px solid rgba(128, 128, 128, 0.4);
        border-radius: 8px; box-shadow: 0 4px 16px rgba(0, 0, 0, 0.25); font-size: 13.5px;
        color: inherit; background: var(--mui-palette-background-paper, var(--panel-surface-color, Canvas)); }
.menu:popover-open { display: flex; flex-direction: column; }
.menu button { text-align: left; padding: 6px 8px; }
"""
