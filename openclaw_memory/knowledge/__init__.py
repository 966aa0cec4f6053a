"""Extract mentions and facts from text; read and edit ``concepts.yaml`` and ``facts.yaml``."""

#: Files of the workspace for curated concepts and for stated facts.
CONCEPTS, FACTS = "concepts.yaml", "facts.yaml"
