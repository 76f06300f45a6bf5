"""Network communication between the parts: messages, endpoints, keys, descriptor limits."""
