"""What the parts say to one another over sockets: messages, endpoints, keys, limits of descriptors."""
