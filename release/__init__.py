"""What is published: wheels that bring everything compiled, a source archive, a Debian package, an image."""
