"""What results have in common: short posts, quoted text, advice and a limited size."""
