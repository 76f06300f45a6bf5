"""Code that the commands share: options, help, messages, files, ends."""
