const SEARCH_FROM = 9 // columns; fewer are seen at once
const SPARK = {width: 48, height: 18}

function element(name, className, ...content) {
  const made = document.createElement(name)
  made.className = className
  made.append(...content)
  return made
}

function spark(bars) {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  picture.setAttribute("viewBox", `0 0 ${SPARK.width} ${SPARK.height}`)
  picture.setAttribute("aria-hidden", "true")
  const step = SPARK.width / Math.max(1, bars.length)
  const draw = (height, i) => `M${i * step} ${SPARK.height}v${-height}h${step * 0.86}v${height}z`
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  path.setAttribute("d", bars.map((share, i) => draw(share * SPARK.height, i)).join(""))
  picture.append(path)
  return picture
}

function choice(label, options) {
  const select = element("select", "")
  select.setAttribute("aria-label", label)
  for (const [key, word] of options) select.add(new Option(word, key))
  return select
}

export function render({model}) {
  const root = element("div", "columns")
  const title = element("h3", "", "Columns")
  const count = element("span", "count")
  const search = element("input", "search")
  search.type = "search"
  search.placeholder = "Search columns"
  search.setAttribute("aria-label", "Search columns")
  const list = element("div", "list kg-columns")
  list.setAttribute("role", "list")
  let rows = [], all = element("span", "")
  const send = (columns, role) => model.send_msg({columns, role})

  const shown = () => rows.flatMap((row, i) => row.line.hidden ? [] : [i])
  const filter = () => {
    const wanted = search.value.trim().toLowerCase()
    rows.forEach(({line, name}) => { line.hidden = !name.toLowerCase().includes(wanted) })
  }
  search.addEventListener("input", filter)

  const mark = () => {
    const features = model.roles.filter(role => role === "feature").length
    count.textContent = `${features} of ${rows.length} are features`
    rows.forEach(({line, select}, i) => {
      select.value = model.roles[i]
      line.dataset.role = model.roles[i]
    })
  }

  const build = () => {
    rows = model.rows.map(({name, about, bars, offered}, i) => {
      const select = choice(`Role of ${name}`, offered.map(key => [key, model.words[key]]))
      select.addEventListener("change", () => send([i], select.value))
      const title = element("span", "name", name)
      const detail = element("span", "about", about)
      const line = element("div", "line", element("div", "text", title, detail), spark(bars), select)
      line.setAttribute("role", "listitem")
      line.title = `${name}: ${about}`
      return {line, select, name}
    })
    list.replaceChildren(...rows.map(row => row.line))
    const many = rows.length >= SEARCH_FROM
    const every = choice("Role of all columns shown", [
      ["", "Set shown …"], ["feature", "To feature"], ["ignore", "To ignore"],
    ])
    every.addEventListener("change", () => { send(shown(), every.value); every.value = "" })
    all = element("div", "tools", search, every)
    root.replaceChildren(element("div", "head", title, count), ...(many ? [all] : []), list)
    search.value = ""
    mark()
  }
  model.on("rows", build)
  model.on("roles", mark)
  build()
  return root
}
