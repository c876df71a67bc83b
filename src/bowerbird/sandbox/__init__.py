"""/v1/sandbox: endpoints of /v1 on a library of sample posts. Needs no key and stores nothing."""
