"""The immutable records of the service. They contain no rules about permissions."""
