"""What every operation asks first: plan gates, the call allowance, the lock on a library."""
