"""The HTTP server: connections, the JSON protocol, and the control routes."""
