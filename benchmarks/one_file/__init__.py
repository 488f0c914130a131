"""The server as one file, which any Python from 3.11 on runs."""
