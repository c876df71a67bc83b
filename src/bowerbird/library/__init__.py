"""What an account may do. Knows no HTTP and no SQL; plan gates stand here, once."""
