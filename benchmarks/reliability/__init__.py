"""Standing guards: what is promised, under threads, kills, full disks and long load."""
