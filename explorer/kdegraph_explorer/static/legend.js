function element(name, className, ...content) {
  const made = document.createElement(name)
  made.className = className
  made.append(...content)
  return made
}

function entry({number, name, color}, send) {
  const plain = `Cluster ${number + 1}`
  const swatch = element("i", "")
  swatch.style.background = color
  const shown = element("button", "", name || `${number + 1}`)
  shown.type = "button"
  shown.title = "Name this cluster"
  shown.setAttribute("aria-label", name ? `${name}: rename` : `${plain}: name it`)
  const place = element("span", "entry", swatch, shown)
  shown.addEventListener("click", () => {
    const field = element("input", "")
    field.value = name
    field.placeholder = plain
    field.maxLength = 60
    field.setAttribute("aria-label", `Name of ${plain}`)
    let done = false
    const end = keep => {
      if (done) return
      done = true
      field.replaceWith(shown)
      if (keep && field.value.trim() !== name) send({number, name: field.value})
      else shown.focus()
    }
    field.addEventListener("keydown", event => {
      if (event.key === "Enter") end(true)
      if (event.key === "Escape") { event.stopPropagation(); end(false) }
    })
    field.addEventListener("blur", () => end(true))
    shown.replaceWith(field)
    field.focus()
    field.select()
  })
  return place
}

export function render({model}) {
  const root = element("div", "")
  const draw = () => {
    const entries = model.entries.map(item => entry(item, message => model.send_msg(message)))
    root.replaceChildren(...entries, model.more)
  }
  model.on("entries", draw)
  model.on("more", draw)
  draw()
  return root
}
