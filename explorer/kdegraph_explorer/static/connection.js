const EVERY = 1000  // milliseconds between two attempts to reach the server
const WORDS = {
  lost: "The explorer has lost its server: nothing on this page reacts any more.",
  back: "The server runs again. The page is being restored from its address ...",
  without: name => `The server runs again, but has not kept “${name}”: what is shown here is lost when the page is loaded again.`,
}

function make_banner({banner_style, afterwards}) {
  const banner = document.createElement("div")
  banner.className = "kg-connection"
  banner.setAttribute("role", "alert")
  const shadow = banner.attachShadow({mode: "open"})
  const sheet = document.createElement("style")
  sheet.textContent = banner_style
  const [lost, next] = ["strong", "span"].map(name => document.createElement(name))
  lost.textContent = WORDS.lost
  next.textContent = afterwards
  shadow.append(sheet, lost, next)
  return banner
}

// One of the page's own scripts, which every server of the explorer has under the same address. A
// server with another token refuses it, and asks for the token when the page is loaded.
async function server_runs() {
  try {
    const {src} = document.querySelector("script[src]")
    const {ok, status} = await fetch(src, {method: "HEAD", cache: "no-store"})
    return ok || status === 403
  } catch {
    return false
  }
}

export function render({model, view}) {
  const {document: page} = view.model  // that of Bokeh
  let leaving = false
  const leave = () => { leaving = true }
  window.addEventListener("beforeunload", leave)
  model.on("remove", () => window.removeEventListener("beforeunload", leave))

  page.on_event("connection_lost", () => {
    if (leaving || document.querySelector(".kg-connection") !== null) return
    const banner = make_banner(model)
    for (const part of document.body.children) part.inert = true
    document.body.append(banner)
    const attempt = async () => {
      if (await server_runs()) {
        const next = banner.shadowRoot.querySelector("span")
        next.textContent = model.unkept ? WORDS.without(model.unkept) : WORDS.back
        if (!model.unkept) return location.reload()
        const again = document.createElement("button")
        again.textContent = "Load the page again"
        again.addEventListener("click", () => location.reload())
        next.after(again)
        again.focus()
      } else {
        setTimeout(attempt, EVERY)
      }
    }
    setTimeout(attempt, EVERY)
  })
  return document.createElement("div")
}
