"""How a model is reached: providers, the HTTP path below them, models on this machine, and the gateway that owns them.

The seam is `provider.ModelProvider`; everything else stands on one side of it. Import from the files.
"""
