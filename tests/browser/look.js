// What the browser tests ask a page, in one call each: the explorer's parts lie in nested shadow roots.
window.look = (() => {
  const within = (root, selector) => [
    ...root.querySelectorAll(selector),
    ...[root, ...root.querySelectorAll("*")].flatMap(node => node.shadowRoot ? within(node.shadowRoot, selector) : []),
  ]
  const part = selector => within(document, selector)[0]
  const shown = selector => part(selector)?.checkVisibility() ?? false
  const documents = () => window.Bokeh?.documents ?? []
  const columns = (name, column) => {
    const figure = documents().map(doc => doc.get_model_by_name(name)).find(Boolean)
    return (figure?.renderers ?? []).map(renderer => renderer.data_source.data[column]).filter(Boolean)
  }
  const digest = values => {
    let hash = 0
    for (const letter of JSON.stringify(values)) hash = (31 * hash + letter.charCodeAt(0)) | 0
    return hash
  }

  // The line that says what is explored.
  const status = () => {
    const line = part(".kg-status")
    return line === undefined ? "" : within(line, "div")[0]?.textContent.trim() ?? ""
  }

  // {row: [value of the KDE graph, value of the k-NN graph]} as the table shows it.
  const scores = () => {
    const table = part(".kg-scores")
    const rows = table === undefined ? [] : within(table, "tbody tr")
    return Object.fromEntries(rows.map(row => Array.from(row.cells, cell => cell.textContent)).map(([name, ...values]) => [name, values]))
  }

  // A column of the data that a figure draws, of its uppermost layer that has it.
  const column = (figure, name) => {
    const values = columns(figure, name).at(-1)
    return values === undefined ? null : Array.from(values, value => ArrayBuffer.isView(value) ? Array.from(value) : value)
  }

  // All that a parameter of the computation can change, without the seconds, which differ from run to run.
  const seen = () => JSON.stringify([
    status(),
    Object.entries(scores()).filter(([name]) => !name.startsWith("Seconds")),
    column("KDE graph: eigenvalues", "value"),
    column("k-NN graph: eigenvalues", "value"),
    digest(column("KDE graph: points and edges", "colour")),
  ])

  // What passes between the page and the session: whether it is busy, and whether it has dealt with all that it was sent.
  const bridge = () => documents().flatMap(doc => [...doc._all_models.values()]).find(model => model.data?.answered !== undefined)?.data

  const answered = async patience => {
    const end = performance.now() + patience, session = bridge()
    if (session === undefined) return false
    const number = session.asked + 1
    session.asked = number
    while (session.answered !== number && performance.now() < end) await new Promise(done => setTimeout(done, 10))
    return session.answered === number
  }

  // What is still to come, in words; "" when nothing is.
  const missing = notebook => {
    if (documents().length === 0) return "there is no document"
    if (bridge()?.busy || shown(".kg-cancel")) return "something is computed"
    if (!notebook && !documents().every(doc => doc.is_idle)) return "something is sent or drawn"  // in a notebook, Bokeh does not say
    const [, points, clusters] = status().match(/: ([0-9,]+) points?.*, ([0-9]+) clusters?/) ?? []
    if (clusters === undefined || status().includes("so far") || (scores()["Edges"] ?? ["–"]).includes("–")) return "there is no complete result"
    return shown(".kg-kde-points") ? unpainted(Number(points.replaceAll(",", "")), Number(clusters)) : ""
  }

  // Painting is work of its own, which comes after the result: in a new process, what draws is compiled first.
  const unpainted = (points, clusters) => {
    for (const graph of ["KDE graph", "k-NN graph"])
      if (!columns(`${graph}: points and edges`, "image")[0]?.length) return `the edges of the ${graph} are not drawn`
    const colours = columns("KDE graph: points and edges", "colour").at(-1) ?? []  // none where points are many
    const drawn = colours.length === 0 || (colours.length === points && new Set(colours).size === clusters)
    return drawn ? "" : `the points have ${new Set(colours).size} colours, not ${clusters}`
  }

  // Waits until there is a complete result and nothing is computed, sent or drawn any more; says what is missing after `patience`.
  const settle = async (patience, notebook) => {
    const end = performance.now() + patience
    let last = null
    while (true) {
      const wanting = await answered(patience) ? missing(notebook) : "the session does not answer"
      const now = wanting || seen()
      if (!wanting && now === last) break
      last = now
      if (performance.now() > end) return wanting || "what is seen goes on changing"
      await new Promise(done => setTimeout(done, 30))
    }
    await document.fonts.ready
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
    return ""
  }

  // Whether no plot waits for its first image.
  const painted = () => !within(document, ".kg-empty").some(plot => plot.checkVisibility())

  // All text of the page.
  const text = () => within(document, ":not(style, script)").flatMap(element => [...element.childNodes])
    .filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.data).join("\n")

  return {within, part, status, scores, column, seen, settle, painted, text}
})()
