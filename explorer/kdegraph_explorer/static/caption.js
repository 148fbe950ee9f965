function view_of(name) {
  let figure = null
  for (const document of Bokeh.documents) figure ??= document.get_model_by_name(name)
  return figure === null ? null : Bokeh.index.find_one(figure)
}

async function save(name, type) {
  const view = view_of(name)
  if (view === null) return
  let blob = await view.export(type, true).to_blob()
  if (type === "png") blob = await on_background(blob, background_of(view.el))
  download(blob, name.toLowerCase().replace(/[^a-z0-9]+/g, "-") + "." + type)
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

// The drawings of the tools, in a square of 16 by 16.
const DRAWN = {
  move: "M8 1v14M1 8h14M8 1 6 3m2-2 2 2M8 15l-2-2m2 2 2-2M1 8l2-2M1 8l2 2M15 8l-2-2m2 2-2 2",
  box: "M2 4h12v9H2z",
  lasso: "M8 2C4 2 1.5 4 1.5 6.5S4 11 8 11s6.5-2 6.5-4.5S12 2 8 2M5 10.5c-2 1 0 2.5-1 4",
  "zoom-in": "M7 2a5 5 0 1 0 0 10A5 5 0 1 0 7 2m4 9 3.5 3.5M4.5 7h5M7 4.5v5",
  reset: "M3 8a5 5 0 1 0 1.6-3.7M3 2v3.2h3.2",
  "zoom-out": "M7 2a5 5 0 1 0 0 10A5 5 0 1 0 7 2m4 9 3.5 3.5M4.5 7h5",
}
// What a tool says, and the tool of Bokeh that it presses.
const DRAGS = {
  move: "Drag to move the window",
  box: "Drag to select the points in a box",
  lasso: "Drag around points to select them",
}
const PRESSES = {
  "zoom-in": ["Zoom in", "ZoomInTool"],
  "zoom-out": ["Zoom out", "ZoomOutTool"],
}

function tool(name, sentence, act, of) {
  const made = button(drawing("0 0 16 16", DRAWN[name]), act)
  made.className = `tool ${name}`
  made.title = sentence
  made.setAttribute("aria-label", `${sentence}: ${of}`)
  return made
}

// The tools of a plot: each says what it does, and does it.
function tools_of(model) {
  const offered = []
  for (const name of model.drags)
    offered.push([name, DRAGS[name], () => { model.drag = name }])
  if (model.zooms) for (const [name, [sentence, type]] of Object.entries(PRESSES)) {
    const press = () => {
      const tools = view_of(model.figure)?.model.toolbar.tools ?? []
      tools.find(other => other.type === type)?.do.emit(undefined)
    }
    offered.push([name, sentence, press])
  }
  return offered
}

export function render({model}) {
  const title = element("h2", "title"), sentence = element("span", "sentence")
  const text = element("div", "text", title, " ", sentence), summary = element("p", "summary")
  const line = element("div", "line", text, summary)
  keep_up(model, ["title", "sentence", "summary"], () => {
    title.textContent = model.title
    sentence.textContent = model.sentence
    text.title = model.sentence
    summary.textContent = model.summary
  })

  const tools = tools_of(model)
  const pressed = {}
  for (const [name, sentence, act] of tools) {
    const made = tool(name, sentence, act, model.title)
    if (name in DRAGS) pressed[name] = made
    line.append(made)
  }
  keep_up(model, "drag", () => {
    for (const name in pressed) pressed[name].setAttribute("aria-pressed", name === model.drag)
  })

  if (model.resets) {
    const reset = tool("reset", "Show all points again", () => view_of(model.figure)?.reset())
    reset.setAttribute("aria-label", `Reset: show all points of ${model.title} again`)
    line.append(reset)
  }

  const items = []
  const seen = () => items.filter(item => item.checkVisibility())
  const add = (label, act) => {
    const item = button(label, () => { menu.hidePopover(); act() })
    items.push(item)
    return item
  }
  const menu = element("div", "menu")
  for (const [, sentence, act] of tools) add(sentence, act).className = "where-narrow"
  if (model.described) {
    const item = add("", () => { model.table = !model.table })
    keep_up(model, "table", () => {
      item.textContent = model.table ? "Show the plot" : "Show as a table"
    })
  }
  if (model.figure) {
    add("Save as PNG", () => save(model.figure, "png"))
    add("Save as SVG", () => save(model.figure, "svg"))
  }
  if (items.length) {
    const more = element("button", "more", "⋯")
    more.title = "Table, PNG, SVG"
    more.setAttribute("aria-label", `${model.title}: table and pictures`)
    menu.popover = "auto"
    menu.append(...items)
    more.popoverTargetElement = menu
    menu.addEventListener("beforetoggle", event => {
      const {right, bottom} = more.getBoundingClientRect()
      menu.style.left = `${Math.max(4, right - 210)}px`
      menu.style.top = `${bottom + 2}px`
    })
    menu.addEventListener("toggle", event => { if (event.newState === "open") seen()[0].focus() })
    menu.addEventListener("keydown", event => {
      const way = {ArrowDown: 1, ArrowUp: -1}[event.key]
      if (way === undefined) return
      event.preventDefault()
      const choices = seen(), at = choices.indexOf(menu.getRootNode().activeElement)
      choices[(at + way + choices.length) % choices.length].focus()
    })
    line.append(more, menu)
  }
  return line
}
