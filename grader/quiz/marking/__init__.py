"""What the marker is made of: words, concepts, patterns of concepts, guards, exact slots."""
