"""The server over HTTP: who asks, for what, in which words, and what is answered."""
