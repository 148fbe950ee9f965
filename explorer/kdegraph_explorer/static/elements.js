// What several components begin with.
function element(name, className, ...content) {
  const made = document.createElement(name)
  made.className = className
  made.append(...content)
  return made
}

function button(label, act) {
  const made = element("button", "", label)
  made.type = "button"
  made.addEventListener("click", act)
  return made
}

// A drawing beside words that say the same.
function drawing(viewBox, outline) {
  const space = "http://www.w3.org/2000/svg"
  const picture = document.createElementNS(space, "svg")
  const path = document.createElementNS(space, "path")
  picture.setAttribute("viewBox", viewBox)
  picture.setAttribute("aria-hidden", "true")
  path.setAttribute("d", outline)
  picture.append(path)
  return picture
}

// Do something now, and whenever one of some values of the model changes.
function keep_up(model, names, act) {
  model.on(names, act)
  act()
}

// Give the user a file.
function download(blob, name) {
  const href = URL.createObjectURL(blob)
  Object.assign(document.createElement("a"), {href, download: name}).click()
  setTimeout(() => URL.revokeObjectURL(href), 60000)
}

