"""PartiQL statements, carried out: the reads and writes that they become.

A statement costs, streams and throttles as the operation it stands for. The three operations that
take statements decide what they allow; what is common to them is here.
"""
