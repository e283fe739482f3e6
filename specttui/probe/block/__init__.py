"""The block's rooms: source that runs inside the server, on Python 3.8 and newer.

They are read as text and assembled into one function (specttui.probe.runtime); importing them here serves
only tests and linters. Names begin with `_specttui`, so that a traceback of the server shows whose they are.
"""
