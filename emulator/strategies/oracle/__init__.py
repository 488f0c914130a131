"""A naive model of tables and expressions, to hold the engine against."""
