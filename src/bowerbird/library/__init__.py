"""The operations of an account, with their plan checks. Contains no HTTP and no SQL."""
