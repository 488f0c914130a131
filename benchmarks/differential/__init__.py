"""The same requests to several emulators, and every class of answers that differ."""
