"""The sections on other questions than which stack is faster: memory, predictions, profiles, roofline, programs, …"""
