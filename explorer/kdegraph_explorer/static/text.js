export function render({model}) {
  const element = document.createElement("div")
  const show = () => { element.innerHTML = model.content }
  model.on("content", show)
  show()
  return element
}
