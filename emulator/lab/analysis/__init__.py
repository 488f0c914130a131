"""What to say about a run: its cost, its headroom, a verdict, a fix, advice, side by side."""
