"""compression-advisor.yaml: what a project asks for."""
