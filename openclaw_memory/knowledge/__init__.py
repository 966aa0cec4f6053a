"""Extract mentions and facts from text; read and edit ``concepts.yaml`` and ``facts.yaml``."""
