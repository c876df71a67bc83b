"""Builds the models for search by meaning from published weights, in every kind of installation."""
