// What the browser tests ask a page, in one call each.
// The parts of the explorer lie in nested shadow roots.
window.look = (() => {
  const within = (root, selector) => [
    ...root.querySelectorAll(selector),
    ...[root, ...root.querySelectorAll("*")]
      .flatMap(node => node.shadowRoot ? within(node.shadowRoot, selector) : []),
  ]
  // The first part that matches. A walk through the page takes long: a part is kept while it is there.
  const parts = new Map()
  const part = selector => {
    const found = parts.get(selector)
    if (!found?.isConnected || !found.matches(selector))
      parts.set(selector, within(document, selector)[0])
    return parts.get(selector)
  }
  const shown = selector => part(selector)?.checkVisibility() ?? false
  const documents = () => window.Bokeh?.documents ?? []
  const figure = name => documents().map(doc => doc.get_model_by_name(name)).find(Boolean)
  const columns = (name, column) => {
    const renderers = figure(name)?.renderers ?? []
    return renderers.map(renderer => renderer.data_source.data[column]).filter(Boolean)
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
    const cells = rows.map(row => Array.from(row.cells, cell => cell.textContent))
    return Object.fromEntries(cells.map(([name, ...values]) => [name, values]))
  }

  // A column of the data that a figure draws, of its uppermost layer that has it.
  const column = (plot, name) => {
    const values = columns(plot, name).at(-1)
    if (values === undefined) return null
    return Array.from(values, value => ArrayBuffer.isView(value) ? Array.from(value) : value)
  }

  // All that a parameter of the computation can change. The seconds are left out, as they differ
  // from run to run.
  const seen = () => JSON.stringify([
    status(),
    Object.entries(scores()).filter(([name]) => !name.startsWith("Seconds")),
    column("KDE graph: eigenvalues", "value"),
    column("k-NN graph: eigenvalues", "value"),
    digest(column("KDE graph: points and edges", "color")),
  ])

  // What passes between the page and the session: whether it is busy, and whether it has dealt with
  // all that it was sent.
  const bridge = () => documents()
    .flatMap(doc => [...doc._all_models.values()])
    .find(model => model.data?.answered !== undefined)?.data

  const answered = async patience => {
    const end = performance.now() + patience, session = bridge()
    if (session === undefined) return false
    const number = session.asked + 1
    session.asked = number
    while (session.answered !== number && performance.now() < end)
      await new Promise(done => setTimeout(done, 10))
    return session.answered === number
  }

  // What is still to come, in words; "" when nothing is.
  const missing = notebook => {
    if (documents().length === 0) return "there is no document"
    if (bridge()?.busy || shown(".kg-cancel")) return "something is computed"
    const idle = notebook || documents().every(doc => doc.is_idle)  // Bokeh is silent in notebooks
    if (!idle) return "something is sent or drawn"
    const [, points, clusters] = status().match(/: ([0-9,]+) points?.*, ([0-9]+) clusters?/) ?? []
    // An error is said in place of the result, which stays.
    const stays = shown(".kg-error") && !(scores()["Edges"] ?? []).includes("–")
    const complete = bridge().said.includes("k-NN graph: ") || stays
    if (clusters === undefined || status().includes("so far") || !complete)
      return "there is no complete result"
    if (!shown(".kg-kde-points")) return ""
    return unpainted(Number(points.replaceAll(",", "")), Number(clusters))
  }

  // Painting is work of its own, which comes after the result: in a new process, what draws is
  // compiled first.
  const unpainted = (points, clusters) => {
    for (const graph of ["KDE graph", "k-NN graph"])
      if (!columns(`${graph}: points and edges`, "image")[0]?.length)
        return `the edges of the ${graph} are not drawn`
    // Where points are many, they are part of the image and there are no colors.
    const colors = columns("KDE graph: points and edges", "color").at(-1) ?? []
    // Those of doubtful points are paler: only the opacity differs.
    const shown = new Set(colors.map(color => color >>> 8)).size
    const colored = colors.length === points && shown === clusters
    const drawn = colors.length === 0 || colored
    return drawn ? "" : `the points have ${shown} colors, not ${clusters}`
  }

  // Waits until there is a complete result and nothing is computed, sent or drawn any more; says
  // what is missing after `patience` milliseconds.
  const settle = async (patience, notebook) => {
    const end = performance.now() + patience
    let last = null
    while (true) {
      const wanting = document.body.inert
        ? "the page takes no input yet"
        : await answered(patience) ? missing(notebook) : "the session does not answer"
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
  const text = () => within(document, ":not(style, script)")
    .flatMap(element => [...element.childNodes])
    .filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.data).join("\n")

  return {within, part, figure, columns, status, scores, column, seen, settle, painted, text}
})()
