"""The only code that knows SQL. Every statement outside the control tables carries account_id."""
