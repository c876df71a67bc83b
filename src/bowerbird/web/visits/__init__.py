"""Visits of browsers: cookies, forms, the address they came to, and who is signed in."""
