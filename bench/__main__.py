"""`make bench`: run every benchmark, print its row, and fail if a promise is missed."""

import sys

from bench import listing

if __name__ == "__main__":
    sys.exit(0 if all([listing.main()]) else 1)
