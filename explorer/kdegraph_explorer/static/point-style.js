function slider(word, {min, max, step}, read, write) {
  const input = element("input", ""), shown = element("output", "")
  const label = element("label", "", word, input, shown)
  Object.assign(input, {type: "range", min, max, step})
  const show = () => {
    input.value = read()
    shown.textContent = write.words(Number(input.value))
  }
  input.addEventListener("input", () => {
    shown.textContent = write.words(Number(input.value))
    write.value(Number(input.value))
  })
  show()
  return {label, show}
}

export function render({model}) {
  const open = element("button", "", "◐")
  open.title = "Size and opacity of the points"
  open.setAttribute("aria-label", open.title)
  const size = slider(
    "Size",
    {min: Math.log2(model.sizes[0]), max: Math.log2(model.sizes[1]), step: 0.25},
    () => Math.log2(model.size),
    {value: found => { model.size = 2 ** found }, words: found => `× ${(2 ** found).toPrecision(2)}`},
  )
  const opacity = slider(
    "Opacity",
    {min: model.least, max: 1, step: 0.05},
    () => model.opacity,
    {value: found => { model.opacity = found }, words: found => `${Math.round(100 * found)}%`},
  )
  const panel = element("div", "", size.label, opacity.label)
  panel.popover = "auto"
  open.popoverTargetElement = panel
  panel.addEventListener("beforetoggle", () => {
    const place = open.getBoundingClientRect()
    panel.style.top = `${place.bottom + 4}px`
    panel.style.left = `${Math.max(4, Math.min(place.left, innerWidth - 290))}px`
  })
  model.on("size", size.show)
  model.on("opacity", opacity.show)
  return element("div", "", open, panel)
}
