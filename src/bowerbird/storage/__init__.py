"""The only package with SQL. Every statement outside the control tables has an account_id."""
