"""The routes, by noun. Each names the right it needs; the check itself is made where the thing is changed or read."""
