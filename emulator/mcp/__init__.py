"""The MCP server: what an agent may ask while it designs tables (ICH-100 to ICH-103).

Its tools read designs, play workloads and serve requests, all in this process: they need no
network and no credentials, and are bounded in time and size. ``tools`` has them as plain methods;
``server`` hands them to the SDK, which comes with the extra ``mcp``.
"""
