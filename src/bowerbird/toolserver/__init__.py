"""The tool server: the library as tools, prompts and resources of the Model Context Protocol."""
