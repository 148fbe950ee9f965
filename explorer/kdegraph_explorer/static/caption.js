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
  const title = document.createElement("h2")
  const sentence = document.createElement("span")
  const summary = document.createElement("p")
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

  if (model.resets) {
    const reset = document.createElement("button")
    reset.className = "reset"
    reset.textContent = "Reset"
    reset.title = "Show all points again"
    reset.setAttribute("aria-label", `Reset: show all points of ${model.title} again`)
    reset.addEventListener("click", () => view_of(model.figure)?.reset())
    line.append(reset)
  }

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
      const at = items.indexOf(menu.getRootNode().activeElement)
      items[(at + way + items.length) % items.length].focus()
    })
    line.append(button, menu)
  }
  return line
}
