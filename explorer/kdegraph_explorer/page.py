"""The page around an explorer: its title, its looks, and what the browser lets it do."""

from pathlib import Path

import panel as pn
import panel_material_ui as pmui
from panel.io.resources import LOCAL_DIST
from panel.util import edit_readonly

from .policy import page_template
from .typography import SIZES

TITLE = "kdegraph explorer"


def page_of(main, **options):
    """A page.

    Parameters
    ----------
    main : viewable
    **options
        For `panel_material_ui.Page`.
    """
    page = pmui.Page(
        title=TITLE,
        template=page_template(),
        main=[main],
        theme_config=THEME,
        favicon=Path(__file__).with_name("favicon.svg"),
        busy_indicator=None,
        meta_description="Similarity graphs sampled in nearly linear time, beside k-NN graphs",
        **options,
    )
    with edit_readonly(page):
        # By default, Panel's state, which outlives the page, would refer to it and keep it forever.
        page.busy = pn.rx(False)
    return page


def take_files_from_the_server():
    """Have the page that is being made load style sheets from its server."""
    # The location comes first, as Panel also sets the place of style sheets when it makes that.
    if pn.state.location is not None and (document := pn.state.curdoc) is not None:
        # Panel does this when it sends a page. If a page takes so long to load that its session has
        # ended, it begins another one when it connects, whose style sheets would come from the
        # network without this.
        document.template_variables["dist_url"] = (
            f"{pn.state.rel_path}/{LOCAL_DIST}" if pn.state.rel_path else LOCAL_DIST
        )


THEME = {
    mode: {
        "palette": {"primary": {"main": primary}},
        "typography": {"fontFamily": "Roboto, system-ui, sans-serif"},
        "shape": {"borderRadius": 8},
    }
    for mode, primary in (("light", "#2F6690"), ("dark", "#7FB2D6"))
}
HEADER_HEIGHT = "48px"
STYLE = {  # a low, quiet bar in the page's own colors
    "containerType": "inline-size",  # as in static/measured.css
    "& .MuiToolbar-root": {"minHeight": f"{HEADER_HEIGHT} !important", "height": HEADER_HEIGHT},
    # Tells the page that widgets in the bar keep their colors.
    ".MuiAppBar-root": {"bgcolor": "primary.contrastText", "color": "primary.main"},
    "& header.MuiAppBar-root": {
        "backgroundColor": "background.paper",
        "backgroundImage": "none",
        "color": "text.primary",
        "boxShadow": "none",
        "borderBottom": "1px solid",
        "borderColor": "divider",
    },
    "& .MuiAppBar-root .MuiIconButton-root": {"color": "text.secondary"},
    "& .title": {
        "color": "text.primary",
        "fontSize": SIZES["large"],
        "fontWeight": 600,
        "letterSpacing": "0.01em",
    },
    "@media (max-width: 599px)": {
        "& .title": {"display": "none"},
        "& .MuiIconButton-edgeStart": {"marginRight": "0 !important"},
    },
    "& .MuiDrawer-paper": {"borderRight": "1px solid", "borderColor": "divider"},
}
