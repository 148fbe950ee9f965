"""``python -m kdegraph`` is the command line."""

from kdegraph.cli import main

if __name__ == "__main__":
    main(prog_name="kdegraph")
