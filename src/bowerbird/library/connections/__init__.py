"""Connected sources: connecting them, reading them, and what people see about them."""
