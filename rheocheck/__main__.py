"""`python -m rheocheck`."""

from rheocheck.cli import main

if __name__ == "__main__":
    main()
