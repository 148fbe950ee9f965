function make_button(model, offer) {
  const button = document.createElement("label")
  button.innerHTML = model.icon
  const words = document.createElement("span")
  const input = document.createElement("input")
  input.type = "file"
  button.append(words, input)
  const show = () => {
    words.textContent = model.label
    button.title = model.description
  }
  model.on(["label", "description"], show)
  show()

  input.addEventListener("change", () => {
    offer(input.files)
    input.value = ""  // the same file can be chosen again
  })
  const drag = over => event => {
    event.preventDefault()
    button.classList.toggle("over", over)
  }
  button.addEventListener("dragenter", drag(true))
  button.addEventListener("dragover", drag(true))
  button.addEventListener("dragleave", drag(false))
  button.addEventListener("drop", event => {
    drag(false)(event)
    offer(event.dataTransfer.files)
  })
  return button
}

// Make a sign that lies over the page while a file is dragged over it. The browser itself would
// leave the page for the file.
function make_sign(model, offer) {
  const sign = document.createElement("div")
  sign.popover = "manual"
  sign.textContent = model.label
  const listeners = {
    dragover: event => {
      // One that is over a button is taken there.
      const takes = !event.defaultPrevented && event.dataTransfer.types.includes("Files")
      if (takes) event.preventDefault()
      sign.togglePopover(takes)
    },
    dragleave: event => {
      if (event.relatedTarget === null) sign.togglePopover(false)  // it has left the window
    },
    drop: event => {
      sign.togglePopover(false)
      if (event.defaultPrevented || event.dataTransfer.files.length === 0) return
      event.preventDefault()
      if (!document.body.inert) offer(event.dataTransfer.files)
    },
  }
  for (const [name, listen] of Object.entries(listeners)) document.addEventListener(name, listen)
  model.on("remove", () => {
    for (const [name, listen] of Object.entries(listeners))
      document.removeEventListener(name, listen)
  })
  return sign
}

// The server asks for each part of the file. So no more is on its way than the server has asked
// for, and other messages do not wait behind the whole file.
export function render({model}) {
  let file = null
  let key = null
  const offer = files => {
    if (files.length === 0) return
    file = files[0]
    key = String(Math.random())  // several views of one model get the same messages
    model.send_msg({file: key, name: file.name, size: file.size})
  }

  const send = async asked => {
    if (asked.file !== key) return
    const {start, stop} = asked
    try {
      const data = await file.slice(start, stop).arrayBuffer()
      model.send_msg({file: asked.file, start, data})
    } catch {
      model.send_msg({file: asked.file, failed: true})
    }
  }
  model.on("msg:custom", send)
  return model.whole_page ? make_sign(model, offer) : make_button(model, offer)
}
