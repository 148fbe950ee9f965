// Written for Bokeh 3.9, which lays out the whole page anew for each element whose size has changed,
// and for each change of a style: some 30 times where a view is opened. With this script, it does so
// once, in the next frame.
function lay_out_once_per_frame({LayoutDOMView}) {
  const waiting = new Map()  // roots, and whether styles have changed, besides sizes
  const root_of = view => view.parent instanceof LayoutDOMView ? root_of(view.parent) : view
  const lay_out = () => {
    const roots = [...waiting]
    waiting.clear()
    for (const [root, restyled] of roots) {
      if (root.is_destroyed) continue
      if (restyled) root.update_layout()
      root.compute_layout()
    }
  }
  const postpone = (method, restyles) => {
    const at_once = LayoutDOMView.prototype[method]
    LayoutDOMView.prototype[method] = function() {
      const root = root_of(this)
      if (!root._layout_computed) {  // the page is being built
        at_once.call(this)
        return
      }
      if (waiting.size === 0) requestAnimationFrame(lay_out)
      waiting.set(root, restyles || waiting.get(root) === true)
    }
  }
  postpone("invalidate_layout", true)
  postpone("_after_resize", false)
}

// Bokeh asks the browser for a style, such as --bk-axis-line-color, of each line, area and text before
// it draws that, and the browser computes all styles again after each change of the page. This takes
// a seventh of the time in which a page is built. The explorer sets none of these styles.
function draw_without_styles({VisualProperties}) {
  if (!VisualProperties.prototype._get_css_value) throw new Error("styles are not asked for")
  VisualProperties.prototype._get_css_value = () => ""
}

// Bokeh also asks the browser for the size of a plot's font before it measures a text, for some
// hundred texts of a page. With this script, it does so once for each plot and frame.
function ask_for_size_once_per_frame({PlotView}) {
  const {get} = Object.getOwnPropertyDescriptor(PlotView.prototype, "base_font_size")
  const sizes = new Map()  // of plots
  Object.defineProperty(PlotView.prototype, "base_font_size", {get() {
    if (sizes.size === 0) requestAnimationFrame(() => sizes.clear())
    if (!sizes.has(this)) sizes.set(this, get.call(this))
    return sizes.get(this)
  }})
}

// To Bokeh, a mouse that is held down for .3 s before it moves presses a place: nothing is drawn, and
// a slow click selects no point. The explorer has no use for a press.
function take_slow_drags_and_clicks({UIGestures}) {
  if (!UIGestures.press_threshold) throw new Error("there is no time of a press")
  UIGestures.press_threshold = 2 ** 31 - 1  // the longest time of a timer, in ms: 25 days
}

try {
  take_slow_drags_and_clicks(Bokeh.loader["core/ui_gestures"])
  lay_out_once_per_frame(Bokeh.loader["models/layouts/layout_dom"])
  draw_without_styles(Bokeh.loader["core/visuals/visual"])
  ask_for_size_once_per_frame(Bokeh.loader["models/plots/plot_canvas"])
} catch (error) {
  console.warn("This version of Bokeh draws the page more slowly, or loses slow drags:", error)
}
