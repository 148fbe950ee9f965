"""The sizes of letters: all that the explorer writes has one of them."""

SIZES = {
    "small": "12px",  # tables, remarks, words within plots
    "text": "13px",  # labels of controls, titles of plots, messages
    "large": "15px",  # the name of the page, the sentence on the first page
    "headline": "42px",  # the number on the first page
}
