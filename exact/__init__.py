"""The exact optimum of one preemption (rule P5), to compare the planner's own answer against."""
