"""Who starts, who must go and who waits? One plan over everything that waits, and one attempt for each job tried."""
