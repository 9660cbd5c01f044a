"""What can this machine do for us? Processes, users, control groups, devices, as the kernel and its tools tell of them."""
