"""The lab: which key scheme throttles, and what it costs, before it is deployed."""
