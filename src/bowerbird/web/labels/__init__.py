"""The labels of an account: their page, and the picker that gives them to posts."""
