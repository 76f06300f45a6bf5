"""What of a job was lost, failed or left out by bounds."""
