"""Every request the service accepts, each described once.

A request is a msgspec struct: a JSON body, a query string, or the arguments of a tool. REST
decoding, the OpenAPI document, the tools' input schemas and the plan gates all derive from it.
"""
