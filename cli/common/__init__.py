"""What the commands share: options, help, messages, files, ends."""
