function element(name, className, ...content) {
  const made = document.createElement(name)
  made.className = className
  made.append(...content)
  return made
}

function button(label, act) {
  const made = element("button", "", label)
  made.type = "button"
  made.addEventListener("click", act)
  return made
}

function swatch(color) {
  const made = element("i", "")
  made.style.background = color
  return made
}

const called = ({mark, name}) => name || mark

// Where a click on a cluster lets the user name, merge and split it.
function editor(model, root) {
  const title = element("b", ""), field = element("input", "name"), others = element("div", "others")
  const parts = element("input", "parts"), message = element("p", "message")
  const panel = element("div", "")
  let current, typing = false
  const chosen = () => [...others.querySelectorAll(":checked")].map(box => Number(box.value))
  const close = () => panel.matches(":popover-open") && panel.hidePopover()
  const rename = () => {
    typing = false
    if (field.value.trim() === current.name && current.name) return close()
    model.send_msg({number: current.number, name: field.value})
    if (!field.value.trim() && !current.name) return
  }
  const merge = button("Merge", () => model.send_msg({merge: [current.number, ...chosen()]}))
  const split = button("Split", () => {
    message.textContent = "Clustering its points …"
    model.send_msg({split: current.number, parts: Number(parts.value)})
  })
  Object.assign(parts, {type: "number", min: 2, max: 100, value: 2})
  parts.setAttribute("aria-label", "Number of parts")
  message.setAttribute("role", "alert")
  field.addEventListener("input", () => { typing = true })
  field.addEventListener("keydown", event => {
    if (event.key === "Enter") rename()
  })
  panel.addEventListener("keydown", event => {
    if (event.key === "Escape") { typing = false; event.stopPropagation(); close() }
  })
  panel.addEventListener("beforetoggle", event => {
    if (event.newState === "closed" && typing) rename()
  })
  panel.popover = "auto"
  panel.setAttribute("role", "dialog")
  const line = (word, control, act, sentence) =>
    element("div", "line", element("span", "", word), control, act, element("small", "", sentence))
  const byHand = element("div", "",
    line("Merge with", others, merge, "They become one cluster."),
    line("Split into", parts, split, "Its points are clustered alone."))
  const alone = element("small", "", "All points can be merged and split, not this part alone.")
  panel.append(title, line("Name", field, "", "Press Enter. It stays with the points; an empty one is taken back."),
    byHand, alone, message)
  const say = () => {
    message.textContent = model.message
    if (model.message && current && !panel.matches(":popover-open")) panel.showPopover()
  }
  const open = (item, place) => {
    current = item
    typing = false
    title.replaceChildren(swatch(item.color), `Cluster ${item.mark}`)
    panel.setAttribute("aria-label", `Cluster ${item.mark}`)
    Object.assign(field, {value: item.name, placeholder: `Cluster ${item.mark}`})
    field.setAttribute("aria-label", `Name of Cluster ${item.mark}`)
    others.replaceChildren(...model.entries.filter(other => other.number !== item.number).map(other => {
      const box = element("input", "")
      Object.assign(box, {type: "checkbox", value: other.number})
      return element("label", "", box, swatch(other.color), called(other))
    }))
    byHand.hidden = model.in_part
    alone.hidden = !model.in_part
    message.textContent = ""
    const {left} = place.getBoundingClientRect()
    panel.style.top = `${root.getBoundingClientRect().bottom + 4}px`
    panel.style.left = `${Math.max(4, Math.min(left, innerWidth - 326))}px`
    panel.showPopover()
    field.focus()
    field.select()
  }
  const leave = () => {
    const focused = panel.matches(":popover-open")
    typing = false
    close()
    return focused && current
  }
  return {panel, open, say, leave}
}

export function render({model}) {
  const root = element("div", ""), edit = editor(model, root)
  const draw = () => {
    const left = edit.leave()
    root.replaceChildren(...model.entries.slice(0, model.places).map(item => {
      const shown = button(called(item), () => edit.open(item, shown))
      const {name, mark, number} = item
      shown.title = "Name, merge or split this cluster"
      shown.setAttribute("aria-label", name ? `${name}: rename` : `Cluster ${mark}: name it`)
      if (left && left.number === number) setTimeout(() => shown.focus())
      return element("span", "entry", swatch(item.color), shown)
    }), model.more, edit.panel)
  }
  model.on("entries", draw)
  model.on("more", draw)
  model.on("message", edit.say)
  draw()
  return root
}
