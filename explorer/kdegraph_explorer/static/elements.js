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

