"""``python -m kdegraph_explorer`` is ``kdegraph explore``, with the same options."""

import runpy
import sys

if __name__ == "__main__":
    sys.argv.insert(1, "explore")
    runpy.run_module("kdegraph", run_name="__main__")
