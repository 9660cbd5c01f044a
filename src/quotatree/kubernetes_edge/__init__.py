"""What a cluster asks of us: resources that declare quotas and workspaces, and jobs that were made with kubectl.

An edge like the API: what it sees becomes commands to the control loop, with the same rights, rules and refusals. What the loop
answers and decides goes back as conditions, figures and events of the objects.
"""
