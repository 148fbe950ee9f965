export function render({model}) {
  const summary = element("summary", ""), list = element("ul", ""), rule = element("p", "")
  const files = element("details", "", summary, rule, list)
  const warning = element("p", "warning")
  warning.setAttribute("role", "status")
  const act = (word, {key, name}) => {
    const made = button(word, () => model.send_msg({[word.toLowerCase()]: key}))
    made.setAttribute("aria-label", `${word} ${name}`)
    return made
  }
  const show = () => {
    const held = list.contains(list.getRootNode().activeElement)
    files.hidden = model.rows.length === 0
    summary.textContent = `Kept on the server: ${model.rows.length}`
    rule.textContent = model.rule
    warning.textContent = model.warning
    list.replaceChildren(...model.rows.map(row => {
      const text = element("div", "text", element("span", "name", row.name), element("span", "about", row.about))
      text.title = row.name
      return element("li", "", text, act("Open", row), act("Delete", row))
    }))
    if (held) summary.focus()  // as the button that was pressed is gone
  }
  keep_up(model, "unfolded", () => { files.open = model.unfolded })
  keep_up(model, ["rows", "rule", "warning"], show)
  return element("div", "", files, warning)
}
