"""``python -m kdegraph_explorer`` is ``kdegraph explore``, with the same options."""

import sys

from kdegraph.cli import main

if __name__ == "__main__":
    main(["explore", *sys.argv[1:]], prog_name="kdegraph")
