"""/v1/sandbox: the endpoints of /v1 on a library of fixtures, without a key and without traces."""
