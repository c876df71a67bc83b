"""Stand-ins for the hosts that the service talks to: networks, images, mail, sign-in, files."""
