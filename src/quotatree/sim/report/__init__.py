"""What would a person look at? One HTML page of plots and tables from the results of one or several runs.

    page.py      the page; its numbers come from tables.py, its looks from look.py
    plots.py     the list of plots, and how one of them becomes SVG, for the page or for a file of its own
    style.py     fonts, colours, axes of time: what all plots share

Only the modules of plots need matplotlib (the extra `report`), so import plots.py and page.py only to draw.
"""
