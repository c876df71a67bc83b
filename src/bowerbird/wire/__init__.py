"""HTTP shared by the surfaces: envelope, keys, query strings, cached answers."""
