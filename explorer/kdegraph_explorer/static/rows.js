export function render({model}) {
  const ask = change => { model.query = {...model.query, first: 0, ...change} }
  const search = element("input", "search")
  search.type = "search"
  search.placeholder = "Search the rows"
  search.setAttribute("aria-label", "Search the rows")
  let timer
  search.addEventListener("input", () => {
    clearTimeout(timer)
    timer = setTimeout(() => ask({search: search.value}), 250)
  })
  const rows = element("select", "")
  rows.setAttribute("aria-label", "Which rows")
  rows.addEventListener("change", () => ask({rows: rows.value}))
  const status = element("span", "status")
  status.setAttribute("aria-live", "polite")
  const select = button("Select these", () => model.send_msg({select: "found"}))
  select.title = "Select all rows that are found, in all plots"
  const clear = button("Clear selection", () => model.send_msg({select: "none"}))
  const previous = button("‹", () => ask({first: Math.max(0, model.query.first - model.page_size)}))
  const next = button("›", () => ask({first: model.query.first + model.page_size}))
  previous.setAttribute("aria-label", "Previous page")
  next.setAttribute("aria-label", "Next page")
  const bar = element("div", "bar", search, rows, select, clear, status, previous, next)

  const head = element("thead", ""), body = element("tbody", "")
  const frame = element("div", "frame kg-rows", element("table", "", head, body))
  frame.tabIndex = 0
  frame.setAttribute("aria-label", "Rows of the points")

  const choose = (event, point) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return
    event.preventDefault()
    model.send_msg({point, add: event.shiftKey || event.ctrlKey || event.metaKey})
  }
  const draw = () => {
    const {sort, descending, first} = model.query
    head.replaceChildren(element("tr", "", ...model.names.map((name, i) => {
      const arrow = i === sort ? (descending ? " ▾" : " ▴") : ""
      const label = button(name + arrow, () => ask({sort: i, descending: i === sort && !descending}))
      label.title = name
      const cell = element("th", model.numeric[i] ? "number" : "", label)
      cell.scope = "col"
      if (i === sort) cell.setAttribute("aria-sort", descending ? "descending" : "ascending")
      return cell
    })))
    body.replaceChildren(...model.page.map(({point, picture, cells, selected}) => {
      const row = element("tr", selected ? "selected" : "", ...cells.map((text, i) => {
        const cell = element("td", model.numeric[i] ? "number" : "", text)
        cell.title = text
        return cell
      }))
      if (picture) {
        const image = element("img", "")
        image.draggable = false  // dropped on the page, it would be opened as a file
        image.src = picture
        image.alt = ""
        row.firstChild.prepend(image)
      }
      row.tabIndex = 0
      row.setAttribute("aria-selected", selected)
      row.addEventListener("click", event => choose(event, point))
      row.addEventListener("keydown", event => choose(event, point))
      return row
    }))
    const last = first + model.page.length
    const range = model.found ? `${first + 1}–${last} of ${model.found.toLocaleString("en")}` : "none found"
    status.textContent = `${range}, ${model.selected.toLocaleString("en")} selected`
    previous.disabled = first === 0
    next.disabled = last >= model.found
    clear.disabled = model.selected === 0
  }
  keep_up(model, "choices", () => {
    rows.replaceChildren(...model.choices.map(([key, word]) => new Option(word, key)))
    rows.value = model.query.rows
  })
  keep_up(model, ["page", "selected", "found"], draw)
  return element("div", "rows", bar, frame)
}
