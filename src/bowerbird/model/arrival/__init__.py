"""How posts arrive: imports, pages of devices, and connected accounts."""
