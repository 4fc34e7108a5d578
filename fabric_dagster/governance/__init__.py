"""Who may do what: trust root, authority table, qualification, certification, commissioning.

Everything is decided from signed events and exact digests, default-deny; what a caller claims about a
graph's lifecycle is never read. Must never run an application, write a file or let an identity pass a
door that its own act opened: builder, certifier and commissioner differ.
"""
