"""Signs people in with other sites: OpenID Connect providers, Google, GitHub and X.

This package speaks to the provider and returns the person that the provider names. It knows
nothing of accounts, sessions and pages.
"""
