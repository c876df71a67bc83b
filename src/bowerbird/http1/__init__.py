"""The HTTP/1.1 server: sockets, requests and answers, within bounds that a client cannot exceed."""
