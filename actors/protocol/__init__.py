"""How tools are spoken about with a model: native tool calls, or JSON in the text. Pure; no I/O.

The seam is `protocol.Protocol`. Import from the files.
"""
