"""What doors may see of a running emulator: budgets, ledgers, partitions and tables."""
