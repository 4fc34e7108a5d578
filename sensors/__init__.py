"""The ears: what starts and continues runs.

Sensors observe (an inbox, the spine) and request runs; what may run is the supervisor's to say. They hold
no keys but the runtime's, do no work themselves, and request at most fifty runs a tick.
"""
