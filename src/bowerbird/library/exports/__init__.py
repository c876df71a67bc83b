"""Export jobs, their files and download links."""
