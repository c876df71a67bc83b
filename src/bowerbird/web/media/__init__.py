"""Kept images on the website: their files, and the switches for keeping and showing them."""
