"""The agent: an actor (`agent`), its typed ref (`ref`), and the turn it runs (`turn`).

Import from the files; what users need is exported by `actors` itself.
"""
