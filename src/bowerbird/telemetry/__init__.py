"""OpenTelemetry traces of requests and jobs, if `BOWERBIRD_TRACES` is on.

Nothing imports this package otherwise, so the packages that it needs are an extra. The parts of the
service do not know it: the server wraps them when it starts.
"""
