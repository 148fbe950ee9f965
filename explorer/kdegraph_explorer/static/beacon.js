// A Jupyter widget would send back every change that the kernel has sent, and an outdated one would
// overwrite a newer one. Bokeh marks these changes, and its server keeps to the marks.
function send_only_what_is_news({document}) {
  const trigger = document._trigger_on_change
  document._trigger_on_change = event => { if (event.sync) trigger.call(document, event) }
}

export function render({model, view}) {
  send_only_what_is_news(view.model)
  const element = document.createElement("div")
  element.innerHTML = model.content
  const timer = setInterval(() => model.heard ? clearInterval(timer) : model.beats += 1, 200)
  return element
}
