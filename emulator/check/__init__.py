"""``dynamometer check``: what the rules say about designs, in the form that its reader wants.

The room joins readers and rules of ``designs`` with the engine, which says what the service
refuses; a lab file is run by the lab.
"""
