"""``python -m cfmgml.cli``."""

import sys

from cfmgml.cli import main

if __name__ == "__main__":
    sys.exit(main())
