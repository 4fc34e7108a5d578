"""The live Photoshop hands: a UXP plugin in a running Photoshop, asked over a loopback WebSocket.

Holds the closed list of methods (one a capability), the schema and types generated from it, pairing, the
bridge that the plugin dials, the ledger of request identities, the provider and its qualification. Must
never carry script, a raw ``batchPlay`` or a method name that is not in the list; never resend a request;
never believe a reply; never let Photoshop write outside of a stage.
"""
