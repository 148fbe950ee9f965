export function render({model}) {
  const element = document.createElement("div")
  element.innerHTML = model.content
  const timer = setInterval(() => model.heard ? clearInterval(timer) : model.beats += 1, 200)
  return element
}
