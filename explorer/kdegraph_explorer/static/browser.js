const EDITS =
  'input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, [contenteditable=true]'
const OWN_KEYS = '[role=menu], [role=listbox], [role=dialog], [popover]'

// Whether keys that are pressed in an element are its own.
function keeps_keys(node) {
  const opened = node.popoverTargetElement?.matches(":popover-open")
  return opened || node.matches(EDITS) || node.matches(OWN_KEYS)
}

function name_of(event) {
  const parts = []
  if (event.ctrlKey || event.metaKey) parts.push("ctrl")
  if (event.altKey) parts.push("alt")
  const control = event.ctrlKey || event.metaKey
  if (event.shiftKey && (event.key.length > 1 || control)) parts.push("shift")
  parts.push(control ? event.key.toLowerCase() : event.key)
  return parts.join("+")
}

// The element of the whole explorer, which this one lies in, across shadow roots.
function explorer_around(node) {
  while (node && !node.matches?.(".kg-explorer")) node = node.parentNode ?? node.host
  return node
}

// The first element below a root that a selector fits, across shadow roots.
function find(root, selector) {
  for (const node of root.querySelectorAll("*")) {
    const found = node.matches(selector) ? node : node.shadowRoot && find(node.shadowRoot, selector)
    if (found) return found
  }
  return null
}

// In a notebook, the explorer gets the keys while it has the focus, and the notebook gets none then.
function take_keys_of(explorer, press) {
  if (!explorer) return
  explorer.tabIndex = -1  // a click anywhere in it gives it the focus
  explorer.style.outline = "none"
  // JupyterLab sees keys before their target does, and leaves out elements with this attribute.
  explorer.setAttribute("data-lm-suppress-shortcuts", "true")
  explorer.addEventListener("keydown", event => {
    press(event)
    event.stopPropagation()
  })
}

// The field to search a list of options, which gets the keys when it appears; Escape closes it.
function lead_search(field) {
  const close = field.parentElement.querySelector("button")
  field.setAttribute("aria-label", "Search")
  close.setAttribute("aria-label", "Close the list")
  field.addEventListener("keydown", event => { if (event.key === "Escape") close.click() })
  field.focus()
}

// Repairs for screen readers: a selector, and what the components leave out there.
const MENDED = [
  ["[placeholder='Search...']:not([aria-label])", lead_search],
  ["span[aria-label]:not([role]):not(:has(button))", span => span.setAttribute("role", "img")],
  [".MuiInputAdornment-root .MuiIconButton-root:not([aria-label])", button => {
    const label = button.getRootNode().querySelector("label")?.firstChild?.textContent ?? "number"
    const less = button.closest(".MuiInputAdornment-positionStart") !== null
    button.setAttribute("aria-label", `${label}: ${less ? "less" : "more"}`)
    button.tabIndex = -1  // the arrow keys do the same in the field
  }],
  [".MuiAlert-action [aria-label=Close]", button => {
    button.setAttribute("aria-label", "Close this message")
  }],
  ["[aria-label='Resize sidebar']:not([role])", handle => handle.setAttribute("role", "separator")],
  [".kg-scroll, .MuiDialogContent-root", region => { region.tabIndex = 0 }],
  ["[role=progressbar]:not([aria-label])", bar => bar.setAttribute("aria-label", "Progress")],
  ["h5", heading => {
    if (heading.textContent.trim() === "") heading.setAttribute("aria-hidden", "true")
  }],
  ["h3.title:not([aria-level])", title => {
    title.setAttribute("role", "heading")
    title.setAttribute("aria-level", "1")
  }],
]

function mend(root, watch) {
  watch(root)
  for (const [selector, repair] of MENDED) root.querySelectorAll(selector).forEach(repair)
  for (const node of root.querySelectorAll("*")) if (node.shadowRoot) mend(node.shadowRoot, watch)
}

// On a telephone, a swipe over a plot scrolls the page, and two fingers zoom the plot.
function let_swipes_scroll() {
  if (!window.matchMedia("(pointer: coarse)").matches) return
  for (const document of Bokeh.documents)
    for (const {toolbar} of document._all_models.values()) {
      const drag = toolbar?.gestures?.pan?.active
      if (drag?.type === "PanTool") drag.active = false
    }
}

// Some time after a component of Material UI has drawn a value, it also reports that value to its
// model. If the session has sent a newer one in the meantime, the report overwrites it, here and in
// the session, as if the user had chosen it. So what a message changes is drawn and reported before
// the next message is read.
async function finish_each_message(view) {
  const modules = await Promise.all(view._module_cache.values())
  const {flushSync} = modules.find(module => module?.default?.react_dom).default.react_dom
  const {document} = view.model
  if (Object.hasOwn(document, "apply_json_patch")) return
  const apply = document.apply_json_patch
  document.apply_json_patch = (...message) => flushSync(() => apply.apply(document, message))
}

export function render({model, el, view}) {
  finish_each_message(view)
  const media = window.matchMedia("(prefers-color-scheme: dark)")
  const tell = () => model.send_msg({dark: media.matches, narrow: window.innerWidth < 600})
  media.addEventListener("change", tell)
  tell()

  const press = event => {
    const action = model.keys[name_of(event)]
    if (action === undefined || event.defaultPrevented) return
    const path = event.composedPath().filter(node => node instanceof Element)
    if (path.some(keeps_keys)) return
    if (event.key.startsWith("Arrow") && path.some(node => node.matches("input"))) return
    event.preventDefault()
    model.send_msg({action})
  }
  if (model.own_address) {
    document.addEventListener("keydown", press)
  } else {
    setTimeout(() => take_keys_of(explorer_around(el), press))
  }

  if (model.own_address) {
    // What is done earlier would arrive, but its answers would be lost.
    keep_up(model, "built", () => { document.body.inert = !model.built })
    keep_up(model, "busy", () => document.body.setAttribute("aria-busy", String(model.busy)))

    // Pictures of the first result are not shown after the work on it, nor beside other choices.
    const forget_pictures = () => document.getElementById("kg-first-plots")?.remove()
    model.on(["busy", "built"], () => { if (model.built && !model.busy) forget_pictures() })
    model.on("step", forget_pictures)
  }

  const views = () => find(explorer_around(el)?.shadowRoot ?? document, ".kg-main")
  const say_what_opens = (place, label) => {
    if (!place) return
    place.dataset.opening = label
    place.classList.toggle("kg-opening", label !== "")
  }
  // The button of a view that is not shown, if an event is about one of this explorer.
  const button_of_view = event => {
    const path = event.composedPath().filter(node => node instanceof Element)
    const button = path.find(node => node.matches("button[aria-pressed=false]"))
    // All elements of the page are gone through last, as the mouse moves often.
    const inside = button && path.some(node => node.matches(".kg-tabs"))
    return inside && path.find(node => node.matches(".kg-main")) === views() ? button : undefined
  }
  // A view that is opened is announced before the session has heard of it, which may be busy.
  const announce = event => {
    const button = button_of_view(event)
    if (button) say_what_opens(views(), button.textContent)
  }
  document.addEventListener("click", announce, true)
  // A view that the mouse rests on is built meanwhile, as it may be opened next.
  let resting_on = null
  const expect = event => {
    clearTimeout(resting_on)
    const button = event.pointerType === "mouse" ? button_of_view(event) : undefined
    if (button) resting_on = setTimeout(() => model.send_msg({expected: button.textContent}), 60)
  }
  document.addEventListener("pointermove", expect, true)
  model.on(["opening", "view"], () => say_what_opens(views(), model.opening))

  keep_up(model, "outdated", () => views()?.classList.toggle("kg-outdated", model.outdated))

  let writing = null  // browsers refuse an address that changes too often
  const write = () => {
    const began = history.state?.visit === model.visit
    const same = !began || history.state.step === model.step
    const entry = {...history.state, visit: model.visit, step: model.step}
    const query = model.query ? "?" + model.query : ""
    const address = location.pathname + query + location.hash
    history[same ? "replaceState" : "pushState"](entry, "", address)
  }
  const write_soon = () => {
    if (!model.own_address || !model.visit) return
    clearTimeout(writing)
    writing = setTimeout(write, 250)
  }
  keep_up(model, ["query", "step", "visit"], write_soon)
  const come_back = event => {
    if (!model.visit) return
    clearTimeout(writing)
    const step = event.state?.visit === model.visit ? event.state.step : null
    model.send_msg({query: location.search, step})
  }
  window.addEventListener("popstate", come_back)

  model.on("msg:custom", message => {
    download(new Blob([message.content], {type: "application/octet-stream"}), message.name)
  })

  const live = document.createElement("div")
  live.setAttribute("role", "status")
  let resting = null  // new elements are repaired once no more arrive
  const changes = new MutationObserver(() => {
    clearTimeout(resting)
    resting = setTimeout(mend_all, 150)
  })
  const watched = new WeakSet()
  const watch = root => {
    if (watched.has(root)) return
    watched.add(root)
    changes.observe(root, {childList: true, subtree: true})
  }
  const mend_all = () => {
    mend(document, watch)
    let_swipes_scroll()
  }
  document.addEventListener("pointerdown", let_swipes_scroll, true)
  const later = []
  const mend_soon = () => {
    later.push(...[0, 300, 1000, 3000].map(wait => setTimeout(mend_all, wait)))
  }
  mend_soon()
  model.on("view", mend_soon)  // a view is built when it is first shown
  keep_up(model, "said", () => {
    live.textContent = model.said
    later.push(setTimeout(mend_all, 50))
  })
  model.on("remove", () => {
    media.removeEventListener("change", tell)
    document.removeEventListener("keydown", press)
    document.removeEventListener("click", announce, true)
    document.removeEventListener("pointermove", expect, true)
    document.removeEventListener("pointerdown", let_swipes_scroll, true)
    window.removeEventListener("popstate", come_back)
    changes.disconnect()
    later.concat(resting, resting_on).forEach(clearTimeout)
  })
  return live
}
