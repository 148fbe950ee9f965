const SEARCH_FROM = 9 // columns; fewer are seen at once
const NO_FEATURES = ["label", "color", "ignore"] // roles
const UNSCALED = {log: false, standardize: false, weight: 1}
const SPARK = {width: 48, height: 18}

function spark(bars) {
  const step = SPARK.width / Math.max(1, bars.length)
  const draw = (height, i) => `M${i * step} ${SPARK.height}v${-height}h${step * 0.86}v${height}z`
  const outline = bars.map((share, i) => draw(share * SPARK.height, i)).join("")
  return drawing(`0 0 ${SPARK.width} ${SPARK.height}`, outline)
}

function choice(label, options) {
  const select = element("select", "")
  select.setAttribute("aria-label", label)
  for (const [key, word] of options) select.add(new Option(word, key))
  return select
}

function tick(word, act) {
  const box = element("input", "")
  box.type = "checkbox"
  box.addEventListener("change", () => act(box.checked))
  return {box, label: element("label", "", box, word)}
}

// The scale of one column: a button that opens it, and what it opens.
function scale_of(name, set) {
  const log = tick("log", on => set("log", on))
  const standardize = tick("standardize", on => set("standardize", on))
  const weight = element("input", "weight")
  weight.inputMode = "decimal"
  weight.addEventListener("change", () => set("weights", weight.value))
  const note = element("p", "note")
  note.setAttribute("role", "status")
  const panel = element("div", "scale", log.label, standardize.label, element("label", "", "weight ", weight), note)
  panel.setAttribute("role", "group")
  panel.setAttribute("aria-label", `Scale of ${name}`)
  panel.hidden = true
  const open = button("▾", () => show(panel.hidden))
  open.className = "open"
  open.setAttribute("aria-label", `Scale of ${name}`)
  open.title = "Log scale, standardize, weight"
  const show = on => {
    panel.hidden = !on
    open.setAttribute("aria-expanded", on)
  }
  show(false)
  const mark = (now, refusal) => {
    log.box.checked = now.log
    standardize.box.checked = now.standardize
    weight.value = now.weight
    note.textContent = refusal
    if (!refusal) return
    show(true)
    note.scrollIntoView({block: "nearest"})
  }
  return {open, panel, mark}
}

function words_for(now) {
  const done = [...(now.log ? ["log"] : []), ...(now.standardize ? ["standardized"] : [])]
  return [...done, ...(now.weight === 1 ? [] : [`× ${now.weight}`])].join(", ")
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

  const standardize = button(
    "Standardize all", () => model.send_msg({standardize: !model.all_standardized}))
  standardize.className = "standardize"
  standardize.title = "Give every feature mean 0 and standard deviation 1"

  const mark = () => {
    const features = model.roles.filter(role => !NO_FEATURES.includes(role)).length
    count.textContent = `${features} of ${rows.length} ${features === 1 ? "is a feature" : "are features"}`
    standardize.setAttribute("aria-pressed", model.all_standardized)
    rows.forEach(({line, select, done, scale}, i) => {
      select.value = model.roles[i]
      line.dataset.role = NO_FEATURES.includes(model.roles[i]) ? model.roles[i] : "feature"
      const now = model.scales[i] ?? UNSCALED
      done.textContent = words_for(now)
      scale.mark(now, model.refusal.column === i ? model.refusal.text : "")
    })
  }

  const build = () => {
    rows = model.rows.map(({name, about, bars, offered}, i) => {
      const select = choice(`Role of ${name}`, offered.map(key => [key, model.words[key]]))
      select.addEventListener("change", () => send([i], select.value))
      const title = element("span", "name", name)
      const done = element("span", "done")
      const detail = element("span", "about", done, about)
      const set = (kind, value) => model.send_msg({column: i, kind, value})
      const scale = scale_of(name, set)
      const text = element("div", "text", title, detail)
      const line = element("div", "line", text, spark(bars), select, scale.open, scale.panel)
      line.setAttribute("role", "listitem")
      line.title = `${name}: ${about}`
      return {line, select, name, done, scale}
    })
    list.replaceChildren(...rows.map(row => row.line))
    const many = rows.length >= SEARCH_FROM
    const every = choice("Role of all columns shown", [
      ["", "Set shown …"], ["feature", "To feature"], ["ignore", "To ignore"],
    ])
    every.addEventListener("change", () => { send(shown(), every.value); every.value = "" })
    all = element("div", "tools", search, every)
    root.replaceChildren(element("div", "head", title, count, standardize), ...(many ? [all] : []), list)
    search.value = ""
    mark()
  }
  model.on(["roles", "scales", "all_standardized", "refusal"], mark)
  keep_up(model, "rows", build)
  return root
}
