"""The pages of Smart Views: all of them, and the form of one."""
