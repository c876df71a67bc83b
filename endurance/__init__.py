"""Long trials with real processes: load, kills and upgrades. Results are committed."""
