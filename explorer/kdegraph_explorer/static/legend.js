function swatch(color) {
  const made = element("i", "")
  made.style.background = color
  return made
}

// The panel below the legend in which a cluster is named, merged and split.
function editor(model, root) {
  const title = element("b", ""), field = element("input", "name"), others = element("div", "others")
  const parts = element("input", "parts"), message = element("p", "message")
  let current, typing = false
  const name = () => {
    typing = false
    model.send_msg({number: current.number, name: field.value})
  }
  const merge = button("Merge", () => {
    const chosen = [...others.querySelectorAll(":checked")].map(box => Number(box.value))
    model.send_msg({merge: [current.number, ...chosen]})
  })
  const split = button("Split", () => {
    message.textContent = "Clustering its points …"
    model.send_msg({split: current.number, parts: Number(parts.value)})
  })
  Object.assign(parts, {type: "number", min: 2, max: 100, value: 2, ariaLabel: "Number of parts"})
  message.setAttribute("role", "alert")
  const line = (word, sentence, ...controls) =>
    element("div", "line", element("span", "", word), ...controls, element("small", "", sentence))
  const byHand = element("div", "",
    line("Merge with", "They become one cluster.", others, merge),
    line("Split into", "Its points are clustered alone.", parts, split))
  const inPart = element("p", "", "To merge and split clusters, go back to all points.")
  const panel = element("div", "", title,
    line("Name", "Press Enter. It stays with its points; an empty one is taken back.", field),
    byHand, inPart, message)
  Object.assign(panel, {popover: "auto", role: "dialog"})
  field.addEventListener("input", () => { typing = true })
  panel.addEventListener("keydown", event => {
    if (event.key === "Enter" && event.target === field) name()
    if (event.key === "Escape") typing = false
    event.stopPropagation()
  })
  panel.addEventListener("beforetoggle", event => {
    if (event.newState === "closed" && typing) name()
  })
  model.on("message", () => {
    message.textContent = model.message
    if (model.message && current) panel.showPopover()
  })
  const open = (item, place) => {
    current = item
    const words = `Cluster ${item.mark}`
    title.replaceChildren(swatch(item.color), words)
    panel.ariaLabel = words
    Object.assign(field, {value: item.name, placeholder: words, ariaLabel: `Name of ${words}`})
    others.replaceChildren(...model.entries.filter(other => other !== item).map(other => {
      const box = Object.assign(element("input", ""), {type: "checkbox", value: other.number})
      return element("label", "", box, swatch(other.color), other.name || other.mark)
    }))
    byHand.hidden = model.in_part
    inPart.hidden = !model.in_part
    message.textContent = ""
    panel.style.left = `${Math.max(4, Math.min(place.getBoundingClientRect().left, innerWidth - 326))}px`
    panel.showPopover()
    const below = (model.heads.length ? place : root).getBoundingClientRect().bottom + 4
    panel.style.top = `${Math.max(4, Math.min(below, innerHeight - panel.offsetHeight - 4))}px`
    field.focus()
    field.select()
  }
  return {panel, open, close: () => {
    const left = panel.matches(":popover-open") ? current.number : null
    typing = false
    if (left !== null) panel.hidePopover()
    return left
  }}
}

function table_of(model, entries) {
  const head = (scope, ...content) => Object.assign(element("th", "", ...content), {scope})
  const heads = element("tr", "", ...model.heads.map(word => head("col", word)))
  const rows = model.entries.map(({cells}, i) =>
    element("tr", "", head("row", entries[i]), ...cells.map(text => element("td", "", text))))
  return element("table", "", element("thead", "", heads), element("tbody", "", ...rows))
}

export function render({model}) {
  const root = element("div", ""), edit = editor(model, root)
  const draw = () => {
    const left = edit.close()
    const entries = model.entries.map(item => {
      const {number, mark, name, color} = item
      const shown = button(name || mark, () => edit.open(item, shown))
      shown.title = "Name, merge or split this cluster"
      shown.ariaLabel = name ? `${name}: rename` : `Cluster ${mark}: name it`
      if (number === left) setTimeout(() => shown.focus())
      return element("span", "entry", swatch(color), shown)
    })
    root.className = model.heads.length ? "table" : "legend"
    root.replaceChildren(...(model.heads.length ? [table_of(model, entries)] : entries), edit.panel)
  }
  keep_up(model, ["entries", "heads"], draw)
  return root
}
