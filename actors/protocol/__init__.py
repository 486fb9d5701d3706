"""How a model is told of tools, and how its replies are read: two protocols behind one seam, no I/O."""
