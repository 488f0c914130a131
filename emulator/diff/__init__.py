"""``dynamometer diff``: what a change does to designs, for whoever reviews it (ICH-86).

Both sides may be designs, lab files, saved results or folders of them. ``sides`` reads them,
``changes`` says what differs and whether that is worse, ``comment`` writes it down.
"""
